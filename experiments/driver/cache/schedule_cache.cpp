// A file: a line that says what it is, one with the length and the hash of the record, the record.
#include "experiments/driver/cache/schedule_cache.hpp"

#include "experiments/driver/records/provenance.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/hash.hpp"
#include "sim/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>

namespace tutti {

namespace {

// Raised by one when some algorithm makes another schedule of the same than before.
constexpr int schedules_version = 4;

std::uint64_t hash_of(std::string_view text) {
  Fingerprint hash;
  hash.add(text);
  return hash.value();
}

/// All that stands before the record.
std::string header(std::string_view record) {
  return fmt::format("tutti remembered schedule 3\n{} {:016x}\n", record.size(), hash_of(record));
}

/// The record in a file's content, where it is whole; else empty.
std::string_view record_in(std::string_view content) {
  const std::size_t end_of_first = content.find('\n');
  if (end_of_first == std::string_view::npos) return {};
  const std::size_t end_of_second = content.find('\n', end_of_first + 1);
  if (end_of_second == std::string_view::npos) return {};
  const std::string_view record = content.substr(end_of_second + 1);
  return content.substr(0, end_of_second + 1) == header(record) ? record : std::string_view{};
}

std::string environment(const char* name) {
  const char* value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value == nullptr ? "" : value;
}

/// The numbering of sets, too: an algorithm may go by it.
std::uint64_t fingerprint_of_custom(const Collective& collective, const CollectivePart& part) {
  Fingerprint hash;
  hash.add(std::uint64_t{collective.sets.size()});
  for (const std::vector<NodeId>& set : collective.sets) {
    hash.add(std::uint64_t{set.size()});
    for (const NodeId node : set) hash.add(node.value);
  }
  for (const Chunk& chunk :
       std::span(collective.chunks).subspan(part.first.value, part.chunk_count)) {
    hash.add(chunk.size.count);
    hash.add(chunk.sources);
    hash.add(chunk.destinations);
    hash.add(chunk.reduces ? 1U : 0U);
  }
  return hash.value();
}

std::string part_text(const Topology& topology, const Collective& collective,
                      const CollectivePart& part) {
  std::string text =
      fmt::format("part {} {} root {} pieces {} chunks {} among", to_text(part.kind),
                  part.size.count, part.root, part.chunks_per_shard, part.chunk_count);
  if (is_everyone(part.group, topology.npu_count()))
    text += " all";
  else
    for (const NodeId member : part.group) text += fmt::format(" {}", member.value);
  if (part.kind == CollectiveKind::custom)
    text += fmt::format(" content {:016x}", fingerprint_of_custom(collective, part));
  return text + "\n";
}

} // namespace

std::string default_schedule_cache() {
  if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty())
    return cache + "/tutti/schedules";
  if (const std::string home = environment("HOME"); !home.empty())
    return home + "/.cache/tutti/schedules";
  return {};
}

Bytes schedule_cache_size() {
  const std::string given = environment("TUTTI_CACHE_SIZE");
  if (given.empty()) return default_cache_size;
  try {
    return parse_bytes(given);
  } catch (const InputError& error) {
    throw InputError(fmt::format("TUTTI_CACHE_SIZE: {}", error.what()));
  }
}

bool goes_by_names(const SynthesisOptions& options) { return options.settings.contains("traffic"); }

std::string schedule_key(const Topology& topology, const Collective& collective,
                         const AlgorithmRow& algorithm, const SynthesisOptions& options) {
  const TimeModel& model = options.model;
  std::string key = fmt::format(
      "tutti {} schedules {}\nnetwork {:016x}: {} NPUs, {} nodes, {} links, {} groups\n",
      tutti_version(), schedules_version, content_fingerprint(topology, goes_by_names(options)),
      topology.npu_count(), topology.node_count(), topology.link_count(), topology.groups().size());
  for (const CollectivePart& part : collective.parts) key += part_text(topology, collective, part);
  key += fmt::format("npus {}\n", topology.parts().npu_model);
  key += fmt::format("model {} {} {} reduction {}\n", to_text(model.link_busy),
                     to_text(model.forwarding), to_text(model.discipline),
                     model.reduce_rate.bytes_per_second);
  key += fmt::format("algorithm {} chooses pieces {} seed {} routing {} limits {} {}\n",
                     algorithm.name, options.choose_chunks, options.seed, to_text(options.routing),
                     options.limit_seconds, options.limit_bytes);
  for (const auto& [name, value] : options.settings) {
    key += fmt::format("set {} {} {}\n", name, value.size(), value);
    const auto setting = std::ranges::find(algorithm.settings, name, &Setting::name);
    if (setting != algorithm.settings.end() && setting->reads_file)
      key += fmt::format("  with {:016x}\n", hash_of(read_file(value)));
  }
  return key;
}

ScheduleCache::ScheduleCache(const std::string& folder)
    : ScheduleCache(folder, folder.empty() ? Bytes{} : schedule_cache_size()) {}

std::string ScheduleCache::file_of(const std::string& key) const {
  return folder_.path_of(hash_of(key));
}

std::optional<RememberedOutcome> ScheduleCache::find(const std::string& key,
                                                     const Topology& topology) const {
  if (!is_used()) return std::nullopt;
  const std::uint64_t number = hash_of(key);
  const std::optional<std::string> content = folder_.read(number);
  if (!content) return std::nullopt;
  const std::string_view record = record_in(*content);
  if (record.empty()) return std::nullopt;
  try {
    std::optional<RememberedOutcome> found = parse_outcome_record(record, key, topology);
    if (found) folder_.touch(number);
    return found;
  } catch (const InputError&) {
    return std::nullopt; // another version's
  }
}

void ScheduleCache::remember(const std::string& key, const Topology& topology,
                             const Collective& collective, const Outcome& outcome) {
  if (!is_used() || !warning_.empty()) return;
  const std::optional<std::string> record =
      outcome_record(key, topology, collective, outcome, folder_.most_in_a_file());
  if (!record) return;
  try {
    folder_.write(hash_of(key), header(*record) + *record);
  } catch (const InputError& error) {
    warning_ = fmt::format("schedules aren't remembered: {}", error.what());
  }
}

} // namespace tutti
