// Exact where each sum has one destination: an inverted spanning tree of copies then reduces each
// contribution once. All-Reduce is left to callers, as it is two such problems.

#include "synth/inversion.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

namespace {

/// What a named collective is when inverted.
CollectiveKind inverted(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::reduce: return CollectiveKind::broadcast;
  case CollectiveKind::reduce_scatter: return CollectiveKind::all_gather;
  case CollectiveKind::reduce_scatter_v: return CollectiveKind::all_gather_v;
  default: return CollectiveKind::custom;
  }
}

} // namespace

bool reduces(const Collective& collective) {
  return std::ranges::any_of(collective.chunks, &Chunk::reduces);
}

Collective inverted(Collective collective) {
  for (Chunk& chunk : collective.chunks) {
    std::swap(chunk.sources, chunk.destinations);
    chunk.reduces = false;
  }
  for (CollectivePart& part : collective.parts) part.kind = inverted(part.kind);
  return collective;
}

Topology reversed_with_copies(const Topology& topology) {
  TopologyParts parts = reversed(topology).parts();
  for (Node& node : parts.nodes) node.can.copy = node.can.reduce;
  return Topology(std::move(parts));
}

} // namespace tutti
