// A file: a line that says what it is, one with the lengths of key and schedule and the schedule's
// hash, the key, the schedule in its binary form.
#include "experiments/schedule_cache.hpp"

#include "experiments/group_network.hpp"
#include "experiments/provenance.hpp"
#include "sim/error.hpp"
#include "sim/files.hpp"
#include "sim/hash.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace tutti {

namespace {

namespace fs = std::filesystem;

std::uint64_t hash_of(std::string_view text) {
  Fingerprint hash;
  hash.add(static_cast<std::uint64_t>(text.size()));
  for (const char letter : text) hash.add(static_cast<std::uint64_t>(letter));
  return hash.value();
}

/// All that stands before the schedule.
std::string header(const std::string& key, std::string_view schedule) {
  return fmt::format("tutti remembered schedule 1\n{} {} {:016x}\n{}", key.size(), schedule.size(),
                     hash_of(schedule), key);
}

/// The schedule in a file's content, where it is whole and of this key; else empty.
std::string_view schedule_in(std::string_view content, const std::string& key) {
  const std::size_t end_of_first = content.find('\n');
  if (end_of_first == std::string_view::npos) return {};
  const std::size_t end_of_second = content.find('\n', end_of_first + 1);
  if (end_of_second == std::string_view::npos) return {};
  const std::size_t start = end_of_second + 1 + key.size();
  if (start > content.size()) return {};
  const std::string_view schedule = content.substr(start);
  return content.substr(0, start) == header(key, schedule) ? schedule : std::string_view{};
}

std::string environment(const char* name) {
  const char* value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value == nullptr ? "" : value;
}

} // namespace

std::string default_schedule_cache() {
  if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty())
    return cache + "/tutti/schedules";
  if (const std::string home = environment("HOME"); !home.empty())
    return home + "/.cache/tutti/schedules";
  return {};
}

std::string schedule_key(const Topology& topology, const CollectiveSpec& collective,
                         const AlgorithmRow& algorithm, std::uint32_t chunks,
                         const SynthesisOptions& options, bool with_names) {
  const TimeModel& model = options.model;
  std::string key =
      fmt::format("tutti {}\nnetwork {:016x}: {} NPUs, {} nodes, {} links, {} groups\n",
                  tutti_version(), content_fingerprint(topology, with_names), topology.npu_count(),
                  topology.node_count(), topology.link_count(), topology.groups().size());
  key += fmt::format("collective {} {} root {} among", to_text(collective.kind),
                     collective.size.count, collective.root);
  for (const NodeId member : collective.group) key += fmt::format(" {}", member.value);
  key += fmt::format("\nmodel {} {} {} reduction {}\n", to_text(model.link_busy),
                     to_text(model.forwarding), to_text(model.discipline),
                     model.reduce_rate.bytes_per_second);
  key += fmt::format("algorithm {} chunks {} pieces {} seed {} routing {} limits {} {}\n",
                     algorithm.name, chunks, algorithm.pieces, options.seed,
                     to_text(options.routing), options.limit_seconds, options.limit_bytes);
  for (const auto& [name, value] : options.settings) key += fmt::format("set {}={}\n", name, value);
  return key;
}

std::string ScheduleCache::file_of(const std::string& key) const {
  return fmt::format("{}/{:016x}.schedule", folder_, hash_of(key));
}

std::optional<ScheduleFile> ScheduleCache::find(const std::string& key,
                                                const Topology& topology) const {
  if (folder_.empty()) return std::nullopt;
  const std::string file = file_of(key);
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  try {
    const std::string content = read_file(file);
    const std::string_view schedule = schedule_in(content, key);
    if (schedule.empty()) return std::nullopt;
    ScheduleFile found = parse_schedule(schedule, file, topology);
    fs::last_write_time(file, fs::file_time_type::clock::now(), error); // may not be ours to touch
    return found;
  } catch (const InputError&) {
    return std::nullopt; // another version's, or gone by now
  }
}

void ScheduleCache::remember(const std::string& key, const Topology& topology,
                             const ScheduleFile& schedule) {
  if (folder_.empty() || !warning_.empty()) return;
  try {
    const std::string bytes = binary_schedule(topology, schedule);
    write_file(file_of(key), header(key, bytes) + bytes);
  } catch (const InputError& error) {
    warning_ = fmt::format("schedules aren't remembered: {}", error.what());
  }
}

} // namespace tutti
