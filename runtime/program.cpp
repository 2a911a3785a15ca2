// One table of step kinds answers all questions about a kind; alias() gives memory one name where
// input and output are one.

#include "runtime/program.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace tutti::runtime {

namespace {

struct KindRow {
  std::string_view text;
  bool sends, receives, reads_source, writes_target;
};
constexpr std::array<KindRow, step_kind_count> kind_rows{{
    {"s", true, false, true, false},
    {"r", false, true, false, true},
    {"rcs", true, true, false, true},
    {"rrc", false, true, true, true},
    {"rrs", true, true, true, false},
    {"rrcs", true, true, true, true},
    {"cpy", false, false, true, true},
    {"re", false, false, true, true},
    {"nop", false, false, false, false},
}};
const KindRow& row(StepKind kind) { return kind_rows[static_cast<std::size_t>(kind)]; }

/// Which of these chunks the unit belongs to; they cover the buffer.
const ChunkPlace& chunk_at(const std::vector<ChunkPlace>& places, std::uint32_t unit) {
  return *std::prev(std::ranges::upper_bound(places, unit, {}, &ChunkPlace::unit));
}

const ChunkPlace* find(const std::vector<ChunkPlace>& places, ChunkId chunk) {
  const auto at = std::ranges::lower_bound(places, chunk.value, {},
                                           [](const ChunkPlace& p) { return p.chunk.value; });
  return at != places.end() && at->chunk == chunk ? &*at : nullptr;
}

} // namespace

std::string_view to_text(StepKind kind) { return row(kind).text; }
bool sends(StepKind kind) { return row(kind).sends; }
bool receives(StepKind kind) { return row(kind).receives; }
bool reads_source(StepKind kind) { return row(kind).reads_source; }
bool writes_target(StepKind kind) { return row(kind).writes_target; }

std::uint32_t Program::unit_count() const {
  return std::reduce(chunk_units.begin(), chunk_units.end(), 0U);
}

std::size_t Program::step_count() const {
  std::size_t count = 0;
  for (const RankProgram& rank : ranks)
    for (const Block& block : rank.blocks) count += block.steps.size();
  return count;
}

std::uint32_t Program::channel_count() const {
  std::uint32_t count = 0;
  for (const RankProgram& rank : ranks)
    for (const Block& block : rank.blocks) count = std::max(count, block.channel + 1);
  return count;
}

Place alias(const Program& program, std::uint32_t rank, Place place) {
  if (!program.in_place || place.buffer == Buffer::scratch) return place;
  const bool inputs_rule = program.ranks[rank].input > program.ranks[rank].output;
  const Buffer ruling = inputs_rule ? Buffer::input : Buffer::output;
  if (place.buffer == ruling) return place;
  const auto& own = inputs_rule ? program.outputs[rank] : program.inputs[rank];
  const auto& others = inputs_rule ? program.inputs[rank] : program.outputs[rank];
  const ChunkPlace& at = chunk_at(own, place.unit);
  const ChunkPlace* there = find(others, at.chunk);
  return there == nullptr ? place : Place{ruling, there->unit + (place.unit - at.unit)};
}

} // namespace tutti::runtime
