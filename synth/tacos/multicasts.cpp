// Reductions are inverted multicasts (TACOS sec. IV.H), so one matching of copies serves every
// collective: an All-Reduce's chunk is a multicast on the reversed topology, from its meeting point
// to all who contribute, and one from there to all who want it.

#include "synth/tacos/multicasts.hpp"

#include "synth/tacos/meeting_points.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

namespace {

Multicasts named_multicasts(const Topology& topology, const CollectivePart& part) {
  const bool rooted = has_root(part.kind);
  Collective copying =
      make_collective(topology, {rooted ? CollectiveKind::broadcast : CollectiveKind::all_gather,
                                 part.size, part.group, part.root, part.chunks_per_shard});
  Multicasts multicasts;
  multicasts.chunks = copying.chunks.size();
  multicasts.deliveries = multicasts.chunks * (part.group.size() - 1);
  if (part.kind == CollectiveKind::all_reduce) multicasts.deliveries *= 2;
  if (is_reducing(part.kind)) multicasts.reductions = copying;
  if (!is_reducing(part.kind) || part.kind == CollectiveKind::all_reduce)
    multicasts.copies = std::move(copying);
  return multicasts;
}

/// Those of a set who aren't in the other.
std::size_t count_beyond(std::span<const NodeId> set, std::span<const NodeId> other) {
  std::size_t beyond = 0;
  auto at = other.begin();
  for (const NodeId npu : set) {
    while (at != other.end() && *at < npu) ++at;
    beyond += at == other.end() || *at != npu;
  }
  return beyond;
}

std::optional<Multicasts> custom_multicasts(const Topology& topology,
                                            const Collective& collective) {
  const std::vector<NodeId> points = meeting_points(topology, collective);
  if (!std::ranges::all_of(points, &NodeId::valid)) return std::nullopt;
  Collective reductions = collective, copies = collective;
  std::vector<SetId> alone(topology.node_count(), UINT32_MAX);
  const auto only = [&](NodeId npu) {
    if (alone[npu.value] == UINT32_MAX) {
      alone[npu.value] = static_cast<SetId>(copies.sets.size());
      reductions.sets.push_back({npu});
      copies.sets.push_back({npu});
    }
    return alone[npu.value];
  };
  Multicasts multicasts;
  std::size_t reduced = 0, copied = 0;
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    Chunk& reduction = reductions.chunks[c];
    Chunk& copy = copies.chunks[c];
    reduction.reduces = copy.reduces = false;
    std::size_t moves = 0;
    if (collective.chunks[c].reduces && collective.sources(ChunkId{c}).size() > 1) {
      reduction.sources = copy.sources = only(points[c]);
      reduction.destinations = collective.chunks[c].sources;
      moves = count_beyond(collective.sources(ChunkId{c}), reductions.sources(ChunkId{c}));
      reduced += moves;
    } else {
      reduction.destinations = reduction.sources; // stays where it is
    }
    const std::size_t copies_of =
        count_beyond(copies.destinations(ChunkId{c}), copies.sources(ChunkId{c}));
    copied += copies_of;
    multicasts.chunks += moves + copies_of > 0;
  }
  multicasts.deliveries = reduced + copied;
  if (reduced > 0) multicasts.reductions = std::move(reductions);
  if (copied > 0 || reduced == 0) multicasts.copies = std::move(copies);
  return multicasts;
}

} // namespace

std::optional<Multicasts> as_multicasts(const Topology& topology, const Collective& collective) {
  if (collective.parts.size() != 1) return std::nullopt;
  switch (collective.parts.front().kind) {
  case CollectiveKind::gather:
  case CollectiveKind::scatter:
  case CollectiveKind::all_to_all: return std::nullopt;
  case CollectiveKind::sendrecv:
  case CollectiveKind::hypercube:
  case CollectiveKind::all_to_all_v:
  case CollectiveKind::all_gather_v:
  case CollectiveKind::reduce_scatter_v:
  case CollectiveKind::custom: return custom_multicasts(topology, collective);
  default: return named_multicasts(topology, collective.parts.front());
  }
}

bool many_take_part(const Collective& collective, const Multicasts& multicasts) {
  std::size_t others = 0; // beyond one source and one who gets it
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    const auto held = collective.sources(ChunkId{c}), wanted = collective.destinations(ChunkId{c});
    const std::size_t getting = count_beyond(wanted, held);
    if (getting > 0 || collective.chunks[c].reduces) others += held.size() + getting;
  }
  return others >= 3 * multicasts.chunks;
}

} // namespace tutti
