// One list of fields for each type serves the writer and the reader. Whole numbers take seven bits
// a byte, the least first (LEB128); doubles the eight bytes of IEEE 754.
#include "runtime/pack/pack.hpp"

#include "sim/error.hpp"
#include "sim/hash.hpp"

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace tutti::runtime {

namespace {

constexpr std::string_view run_head = "tutti-gpu run 1\n";
constexpr std::size_t checksum_bytes = 8;
constexpr std::uint32_t most_runs = 10'000;

template <typename S, typename Of>
concept Is = std::same_as<std::remove_const_t<S>, Of>;

void each_field(auto& file, Is<Arena> auto& arena) {
  file(arena.input, arena.output, arena.scratch, arena.slots, arena.size);
}
void each_field(auto& file, Is<PlannedBlock> auto& block) {
  file(block.rank, block.first_step, block.steps, block.first_block, block.sends, block.receives);
}
void each_field(auto& file, Is<PlannedStep> auto& step) {
  file(step.source, step.target, step.landing, step.got, step.bytes, step.kind, step.got_in_place,
       step.takes_slot, step.frees_slot, step.after_block, step.after_step, step.slot_messages);
}
void each_field(auto& file, Is<Connection> auto& connection) {
  file(connection.from, connection.to, connection.channel, connection.messages, connection.slots,
       connection.slot_messages, connection.first_link, connection.links);
}
void each_field(auto& file, Is<EmulatedLink> auto& link) {
  file(link.latency_seconds, link.seconds_per_byte, link.stores, link.first_group, link.groups);
}
void each_field(auto& file, Is<EmulatedGroup> auto& group) { file(group.seconds_per_byte); }
void each_field(auto& file, Is<Plan> auto& plan) {
  file(plan.arenas, plan.blocks, plan.steps, plan.connections, plan.path_links, plan.links,
       plan.groups, plan.link_groups, plan.unit_bytes);
}
void each_field(auto& file, Is<InputChunk> auto& chunk) {
  file(chunk.chunk, chunk.contributor, chunk.first_byte, chunk.elements);
}
void each_field(auto& file, Is<ExpectedChunk> auto& chunk) {
  file(chunk.chunk, chunk.first_contributor, chunk.contributors, chunk.first_byte, chunk.elements);
}
void each_field(auto& file, Is<Expected> auto& expected) {
  file(expected.chunks, expected.contributors);
}
void each_field(auto& file, Is<RankData> auto& data) {
  file(data.input_bytes, data.output_bytes, data.input, data.output);
}
void each_field(auto& file, Is<PlannedRun> auto& run) {
  file(run.type, run.combine, run.plan, run.data);
}
void each_field(auto& file, Is<RunSettings> auto& settings) {
  file(settings.warmups, settings.repetitions, settings.watchdog_seconds, settings.copy_per_step);
}
void each_field(auto& file, Is<PackedRun> auto& packed) { file(packed.settings, packed.run); }

/// How many values an enumeration has.
template <typename Enum> constexpr std::uint64_t value_count = 0;
template <> constexpr std::uint64_t value_count<StepKind> = step_kind_count;
template <> constexpr std::uint64_t value_count<ElementType> = 4;
template <> constexpr std::uint64_t value_count<Combine> = 2;

class RunWriter {
public:
  explicit RunWriter(std::string& bytes) : bytes_(bytes) {}

  template <typename... Values> void operator()(const Values&... values) { (write(values), ...); }

private:
  template <typename Value> void write(const Value& value) {
    if constexpr (std::integral<Value>)
      write_number(value);
    else if constexpr (std::is_enum_v<Value>)
      write_number(static_cast<std::uint64_t>(value));
    else if constexpr (std::same_as<Value, double>)
      write_bits(std::bit_cast<std::uint64_t>(value));
    else
      each_field(*this, value);
  }
  template <typename Value> void write(const std::vector<Value>& values) {
    write_number(values.size());
    for (const Value& value : values) write(value);
  }
  void write_number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void write_bits(std::uint64_t bits) {
    for (unsigned i = 0; i < 64; i += 8) bytes_ += static_cast<char>(bits >> i);
  }

  std::string& bytes_;
};

/// Errors: InputError for bytes that aren't there, or values that don't fit.
class RunReader {
public:
  RunReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  template <typename... Values> void operator()(Values&... values) { (read(values), ...); }

  void finish() const {
    if (at_ != bytes_.size()) fail("more follows than belongs to it");
  }

private:
  [[noreturn]] void fail(const char* why) const {
    throw InputError(name_ + ": at byte " + std::to_string(run_head.size() + at_) + ": " + why);
  }
  template <typename Value> void read(Value& value) {
    if constexpr (std::same_as<Value, bool>)
      value = read_number(1) != 0;
    else if constexpr (std::integral<Value>)
      value = static_cast<Value>(read_number(std::numeric_limits<Value>::max()));
    else if constexpr (std::is_enum_v<Value>)
      value = static_cast<Value>(read_number(value_count<Value> - 1));
    else if constexpr (std::same_as<Value, double>)
      value = std::bit_cast<double>(read_bits());
    else
      each_field(*this, value);
  }
  /// Each value takes a byte or more: what a count promises is not reserved.
  template <typename Value> void read(std::vector<Value>& values) {
    for (std::uint64_t left = read_number(bytes_.size()); left > 0; --left) {
      values.emplace_back();
      read(values.back());
    }
  }
  std::uint64_t read_byte() {
    if (at_ == bytes_.size()) fail("the file was cut off");
    return static_cast<unsigned char>(bytes_[at_++]);
  }
  std::uint64_t read_number(std::uint64_t most) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = read_byte();
      if (shift == 63 && byte > 1) break; // more than 64 bits
      value |= (byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      if (value > most) break;
      return value;
    }
    fail("a number that is too large");
  }
  std::uint64_t read_bits() {
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < 64; i += 8) bits |= read_byte() << i;
    return bits;
  }

  std::string_view bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
};

std::string checksum_text(std::string_view bytes) {
  std::string text;
  const std::uint64_t checksum = checksum_of(bytes);
  for (unsigned i = 0; i < 64; i += 8) text += static_cast<char>(checksum >> i);
  return text;
}

void require_sound(const RunSettings& settings, const std::string& name) {
  if (settings.warmups > most_runs || settings.repetitions == 0 ||
      settings.repetitions > most_runs || !std::isfinite(settings.watchdog_seconds) ||
      settings.watchdog_seconds <= 0)
    throw InputError(name + ": a run has 1 to " + std::to_string(most_runs) +
                     " repetitions, no more warm-ups, and a watchdog of more than 0 s");
}

} // namespace

std::uint64_t checksum_of(std::string_view bytes) {
  Fingerprint fingerprint;
  fingerprint.add(bytes);
  return fingerprint.value();
}

std::string to_bytes(const PackedRun& packed) {
  std::string bytes(run_head);
  RunWriter writer(bytes);
  each_field(writer, packed);
  return bytes += checksum_text(bytes);
}

PackedRun read_run(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with(run_head))
    throw InputError(name + ": no run of this version of tutti-gpu: it would begin with \"" +
                     std::string(run_head.substr(0, run_head.size() - 1)) + "\"");
  if (bytes.size() < run_head.size() + checksum_bytes ||
      bytes.substr(bytes.size() - checksum_bytes) !=
          checksum_text(bytes.substr(0, bytes.size() - checksum_bytes)))
    throw InputError(name + ": damaged or cut off: its checksum doesn't match");
  bytes.remove_prefix(run_head.size());
  bytes.remove_suffix(checksum_bytes);
  PackedRun packed;
  RunReader reader(bytes, name);
  each_field(reader, packed);
  reader.finish();
  require_sound(packed.settings, name);
  try {
    require_sound(packed.run);
  } catch (const InputError& error) {
    throw InputError(name + ": " + error.what());
  }
  return packed;
}

} // namespace tutti::runtime
