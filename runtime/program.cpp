#include "runtime/program.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace tutti::runtime {

namespace {

constexpr std::uint32_t most_units = 1U << 20;

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

/// [chunk]. Sizes that differ by at most a byte come from a buffer that doesn't divide: one each.
std::vector<std::uint32_t> units_of(const Collective& collective, std::uint32_t instances) {
  const auto [least, most] = std::ranges::minmax_element(
      collective.chunks, {}, [](const Chunk& c) { return c.size.count; });
  std::int64_t unit = 0;
  const bool alike = most->size.count - least->size.count <= 1;
  for (const Chunk& chunk : collective.chunks) unit = std::gcd(unit, chunk.size.count);
  std::vector<std::uint32_t> units;
  std::int64_t total = 0;
  for (const Chunk& chunk : collective.chunks) {
    const std::int64_t parts = alike ? instances : chunk.size.count / unit * instances;
    total += parts;
    if (total > most_units)
      throw InputError(fmt::format("the chunks' sizes have {} bytes in common only: more than {} "
                                   "equal parts",
                                   unit, most_units));
    units.push_back(static_cast<std::uint32_t>(parts));
  }
  return units;
}

/// Appends the chunk to a buffer.
void place(std::vector<ChunkPlace>& places, std::uint32_t& size, std::uint32_t chunk,
           std::uint32_t units) {
  places.push_back({ChunkId{chunk}, size});
  size += units;
}

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

Program empty_program(const Collective& collective, std::uint32_t npus, std::uint32_t instances,
                      bool in_place) {
  if (instances == 0) throw InputError("a program needs at least one instance");
  if (in_place && !can_be_in_place(collective))
    throw InputError(fmt::format("{} can't be in place", collective.name()));
  Program program;
  program.collective = collective;
  program.in_place = in_place;
  program.chunk_units = units_of(collective, instances);
  program.ranks.resize(npus);
  program.inputs.resize(npus);
  program.outputs.resize(npus);
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    const std::uint32_t units = program.chunk_units[c];
    for (const NodeId npu : collective.held_by(ChunkId{c}))
      place(program.inputs[npu.value], program.ranks[npu.value].input, c, units);
    for (const NodeId npu : collective.wanted_by(ChunkId{c}))
      place(program.outputs[npu.value], program.ranks[npu.value].output, c, units);
  }
  return program;
}

bool can_be_in_place(const Collective& collective) {
  if (collective.parts.size() != 1) return false;
  const CollectiveKind kind = collective.parts.front().kind;
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
         kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::broadcast ||
         kind == CollectiveKind::reduce;
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
