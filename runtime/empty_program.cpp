// The buffers of a collective's ranks, before anybody does anything with them.
#include "runtime/program.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tutti::runtime {

namespace {

constexpr std::uint32_t most_units = 1U << 20;

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

} // namespace

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
    for (const NodeId npu : collective.sources(ChunkId{c}))
      place(program.inputs[npu.value], program.ranks[npu.value].input, c, units);
    for (const NodeId npu : collective.destinations(ChunkId{c}))
      place(program.outputs[npu.value], program.ranks[npu.value].output, c, units);
  }
  return program;
}

bool can_be_in_place(const Collective& collective) {
  if (collective.parts.size() != 1) return false;
  const CollectiveKind kind = collective.parts.front().kind;
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
         kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::broadcast ||
         kind == CollectiveKind::reduce || kind == CollectiveKind::hypercube;
}

} // namespace tutti::runtime
