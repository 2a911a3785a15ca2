// Words of 8 bytes, the least significant byte first, and texts behind their lengths; the schedule
// comes last, in the binary form of schedule files. A record of another version has another key.
#include "experiments/driver/cache/outcome_record.hpp"

#include "sim/error.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/hash.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <ios>
#include <limits>
#include <ostream>
#include <streambuf>
#include <utility>

namespace tutti {

namespace {

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

} // namespace

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

} // namespace tutti
