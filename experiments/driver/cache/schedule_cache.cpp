// A file: a line that says what it is, one with the length and the hash of the record, the record.
//
// A record: texts (their length, then their bytes) and numbers, each a word of 8 bytes, the least
// significant byte first; an optional number has the word 0 or 1 before it; real numbers by their
// bits:
//   key, status, form (0 no schedule, 1 list, 2 compact), names of the network (hash), pieces,
//   note, routing, bound?, planned?, planned_on, number of attempts, attempts, number of facts,
//   each: name, value; choice of a library?; then, to the end, the schedule in the binary form of
//   schedule files
// A record of another version has another key.
#include "experiments/driver/cache/schedule_cache.hpp"

#include "experiments/driver/records/provenance.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/hash.hpp"
#include "sim/topology.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <ios>
#include <limits>
#include <ostream>
#include <span>
#include <streambuf>
#include <string_view>
#include <utility>

namespace tutti {

namespace {

/// The program or library that this code is in, by its file: another build may plan otherwise.
std::string program_stamp() {
  std::filesystem::path file = "/proc/self/exe";
  static const char here{};
  Dl_info found{};
  if (dladdr(&here, &found) != 0 &&
      std::string_view(found.dli_fname).find(".so") != std::string_view::npos)
    file = found.dli_fname;
  return fmt::format("{} {}", std::filesystem::file_size(file),
                     std::filesystem::last_write_time(file).time_since_epoch().count());
}

std::uint64_t hash_of(std::string_view text) {
  Fingerprint hash;
  hash.add(text);
  return hash.value();
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

// ---- records

enum class Form : std::uint8_t { none, list, compact };

void add_word(std::string& out, std::uint64_t word) {
  for (int byte = 0; byte < 8; ++byte) out.push_back(static_cast<char>(word >> (8 * byte)));
}

void add_text(std::string& out, std::string_view text) {
  add_word(out, text.size());
  out += text;
}

void add_time(std::string& out, std::optional<Time> time) {
  add_word(out, time ? 1 : 0);
  if (time) add_word(out, static_cast<std::uint64_t>(time->ps));
}

class RecordReader {
public:
  explicit RecordReader(std::string_view bytes) : left_(bytes) {}

  std::uint64_t word() {
    const std::string_view bytes = take(8);
    std::uint64_t word = 0;
    for (std::size_t byte = 0; byte < 8; ++byte)
      word |= std::uint64_t{static_cast<std::uint8_t>(bytes[byte])} << (8 * byte);
    return word;
  }
  std::uint64_t word_up_to(std::uint64_t most) {
    const std::uint64_t found = word();
    if (found > most) throw InputError("no record of an outcome");
    return found;
  }
  std::string_view text() { return take(word()); }
  Time time() { return Time{static_cast<std::int64_t>(word())}; }
  std::optional<Time> optional_time() {
    return word_up_to(1) == 1 ? std::optional(time()) : std::nullopt;
  }
  [[nodiscard]] std::string_view rest() const { return left_; }

private:
  std::string_view take(std::uint64_t size) {
    if (size > left_.size()) throw InputError("a record that ends too early");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  std::string_view left_;
};

/// Appends to a text, and fails where that would become too long.
class LimitedText : public std::streambuf {
public:
  LimitedText(std::string& text, std::size_t most) : text_(text), most_(most) {}

protected:
  std::streamsize xsputn(const char* from, std::streamsize count) override {
    const auto size = static_cast<std::size_t>(count);
    if (size > most_ - std::min(most_, text_.size())) return 0;
    text_.append(from, size);
    return count;
  }
  int_type overflow(int_type letter) override {
    const char one = traits_type::to_char_type(letter);
    return xsputn(&one, 1) == 1 ? letter : traits_type::eof();
  }

private:
  std::string& text_;
  std::size_t most_;
};

std::uint64_t names_of(const Topology& topology) {
  Fingerprint hash;
  hash.add(topology.name());
  for (const Node& node : topology.nodes()) hash.add(node.name);
  return hash.value();
}

Form form_of(const Outcome& outcome) {
  if (outcome.schedule) return Form::list;
  return outcome.compact ? Form::compact : Form::none;
}

/// `collective`: what the schedule speaks of. Nothing where it takes more than `most` bytes, or the
/// schedule can't be written. Memory: at most twice `most`.
std::optional<std::string> outcome_record(const std::string& key, const Topology& topology,
                                          const Collective& collective, const Outcome& outcome,
                                          std::size_t most) {
  std::string record;
  add_text(record, key);
  add_word(record, static_cast<std::uint64_t>(outcome.status));
  const Form form = form_of(outcome);
  add_word(record, static_cast<std::uint64_t>(form));
  add_word(record, names_of(topology));
  add_word(record, outcome.parts_per_chunk);
  add_text(record, outcome.note);
  add_text(record, outcome.routing);
  add_time(record, outcome.bound);
  add_time(record, outcome.planned);
  add_text(record, outcome.planned_on);
  add_word(record, outcome.attempts.size());
  for (const Time attempt : outcome.attempts)
    add_word(record, static_cast<std::uint64_t>(attempt.ps));
  add_word(record, outcome.facts.size());
  for (const auto& [name, value] : outcome.facts) {
    add_text(record, name);
    add_word(record, std::bit_cast<std::uint64_t>(value));
  }
  add_word(record, outcome.library ? 1 : 0);
  if (outcome.library) {
    add_text(record, outcome.library->algorithm);
    add_text(record, outcome.library->protocol);
    add_word(record, outcome.library->channels);
    add_word(record, outcome.library->by_shard ? 1 : 0);
    add_word(record, static_cast<std::uint64_t>(outcome.library->own_chunk.count));
    add_text(record,
             std::string(outcome.library->channel_of.begin(), outcome.library->channel_of.end()));
  }
  if (record.size() > most) return std::nullopt;
  if (form == Form::none) return record;
  LimitedText limited(record, most);
  std::ostream out(&limited);
  out.exceptions(std::ios::badbit);
  try {
    write_schedule(out, topology,
                   {topology.name(),
                    {}, // the key says all
                    {},
                    &collective,
                    outcome.schedule ? &*outcome.schedule : nullptr,
                    outcome.compact ? &*outcome.compact : nullptr});
  } catch (const std::ios::failure&) {
    return std::nullopt;
  } catch (const InputError&) {
    return std::nullopt;
  }
  return record;
}

/// What a record says; nothing where it has another key. Whether the schedule is correct is for the
/// caller to verify. Errors: InputError for what is no record.
std::optional<RememberedOutcome>
parse_outcome_record(std::string_view record, const std::string& key, const Topology& topology) {
  RecordReader in(record);
  if (in.text() != key) return std::nullopt;
  RememberedOutcome found;
  Outcome& outcome = found.outcome;
  outcome.status =
      static_cast<Status>(in.word_up_to(static_cast<std::uint64_t>(Status::timed_out)));
  const auto form = static_cast<Form>(in.word_up_to(static_cast<std::uint64_t>(Form::compact)));
  found.has_same_names = in.word() == names_of(topology);
  outcome.parts_per_chunk =
      static_cast<std::uint32_t>(in.word_up_to(std::numeric_limits<std::uint32_t>::max()));
  outcome.note = in.text();
  outcome.routing = in.text();
  outcome.bound = in.optional_time();
  outcome.planned = in.optional_time();
  outcome.planned_on = in.text();
  for (std::uint64_t left = in.word(); left > 0; --left) outcome.attempts.push_back(in.time());
  for (std::uint64_t left = in.word(); left > 0; --left) {
    std::string name(in.text());
    outcome.facts[std::move(name)] = std::bit_cast<double>(in.word());
  }
  if (in.word_up_to(1) == 1) {
    LibraryChoice& library = outcome.library.emplace();
    library.algorithm = in.text();
    library.protocol = in.text();
    library.channels =
        static_cast<std::uint32_t>(in.word_up_to(std::numeric_limits<std::uint32_t>::max()));
    library.by_shard = in.word_up_to(1) == 1;
    library.own_chunk.count = static_cast<std::int64_t>(
        in.word_up_to(static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
    const std::string channels(in.text());
    library.channel_of.assign(channels.begin(), channels.end());
  }
  if (form == Form::none) {
    if (!in.rest().empty()) throw InputError("a record that goes on after its end");
    return found;
  }
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  ScheduleFile file =
      parse_schedule(in.rest(), "remembered", topology, form == Form::list ? all : 0);
  if (form == Form::list)
    outcome.schedule = std::move(file.schedule);
  else
    outcome.compact = std::move(file.compact);
  return found;
}

// ---- files

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
      "tutti {} program {}\nnetwork {:016x}: {} NPUs, {} nodes, {} links, {} groups\n",
      tutti_version(), program_stamp(), content_fingerprint(topology, goes_by_names(options)),
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
