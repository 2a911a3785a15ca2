// Not every algorithm takes custom collectives. Among the members alive the named collective exists
// again where its shards keep their sizes: then the restart can use any algorithm of that
// collective.

#include "sim/repair/survivors.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

bool all_alive(const Collective& collective, const NetworkState& network) {
  for (const std::vector<NodeId>& set : collective.sets)
    for (const NodeId npu : set)
      if (!network.is_up(npu)) return false;
  return true;
}

/// Which shards (or pairs of shards) of the whole stay, by rank.
std::vector<std::uint32_t> blocks_that_stay(const CollectivePart& part,
                                            const std::vector<std::uint32_t>& ranks) {
  switch (part.kind) {
  case CollectiveKind::broadcast:
  case CollectiveKind::reduce: return {0};
  case CollectiveKind::all_to_all: {
    std::vector<std::uint32_t> blocks;
    for (const std::uint32_t i : ranks)
      for (const std::uint32_t j : ranks)
        blocks.push_back(i * static_cast<std::uint32_t>(part.group.size()) + j);
    return blocks;
  }
  default: return ranks;
  }
}

} // namespace

std::optional<SurvivingCollective> among_survivors(const Collective& whole,
                                                   const NetworkState& network) {
  if (all_alive(whole, network)) {
    SurvivingCollective same{whole, {}};
    for (std::uint32_t c = 0; c < whole.chunks.size(); ++c) same.chunk.emplace_back(c);
    return same;
  }
  if (whole.parts.size() != 1) return std::nullopt;
  const CollectivePart& part = whole.parts.front();
  if (part.kind == CollectiveKind::custom || part.kind == CollectiveKind::sendrecv ||
      has_shares(part.kind))
    return std::nullopt;
  if (has_root(part.kind) && !network.is_up(part.group[part.root])) return std::nullopt;

  SurvivingCollective left;
  std::vector<std::uint32_t> ranks;
  CollectivePart smaller{part.kind, {}, {}, 0, part.chunks_per_shard, ChunkId{0}, 0, {}};
  for (std::uint32_t r = 0; r < part.group.size(); ++r) {
    if (!network.is_up(part.group[r])) continue;
    if (r == part.root) smaller.root = static_cast<std::uint32_t>(ranks.size());
    ranks.push_back(r);
    smaller.group.push_back(part.group[r]);
  }
  const auto alive = static_cast<std::uint32_t>(ranks.size());
  if (alive < 2) return std::nullopt;
  std::vector<std::uint32_t> blocks = blocks_that_stay(part, ranks);
  if (part.kind == CollectiveKind::all_reduce) { // everyone wants all of it, whoever's shard it is
    if (part.chunk_count % alive != 0) return std::nullopt;
    smaller.chunks_per_shard = part.chunk_count / alive;
    blocks.resize(part.group.size());
    std::iota(blocks.begin(), blocks.end(), 0U);
  }
  // Sets as they were, without the dead; those that had nobody else are used by no chunk.
  for (std::vector<NodeId> set : whole.sets) {
    std::erase_if(set, [&](NodeId npu) { return !network.is_up(npu); });
    left.collective.sets.push_back(std::move(set));
  }
  for (const std::uint32_t block : blocks)
    for (std::uint32_t k = 0; k < part.chunks_per_shard; ++k) {
      left.chunk.emplace_back(block * part.chunks_per_shard + k);
      left.collective.chunks.push_back(whole.chunks[left.chunk.back().value]);
      smaller.size += left.collective.chunks.back().size;
    }
  smaller.chunk_count = static_cast<std::uint32_t>(left.chunk.size());
  left.collective.parts.push_back(std::move(smaller));
  return left;
}

} // namespace tutti
