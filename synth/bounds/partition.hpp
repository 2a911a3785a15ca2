// Nodes in groups that belong together. What must enter or leave each, and what must pass between
// them, is worked out for all at once, on the network that has one node for each.
#pragma once

#include "sim/collective.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/demand.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::bounds {

/// Every node is in one part; many parts may have a single node.
struct Partition {
  std::vector<std::uint32_t> part_of; ///< [node]
  std::uint32_t parts = 0;
};

inline constexpr std::uint32_t no_part = UINT32_MAX;

/// Parts numbered by their first node; nodes without a part join the one to which they have more
/// than half of their bandwidth to nodes with one, again and again in order of ids, or make their
/// own. Cost: O(links) for each time that some node joins.
[[nodiscard]] Partition completed(const Topology& topology, std::vector<std::uint32_t> part_of);

/// The collective's sets with parts as nodes, each once but in sets of classes by pairs, where a
/// part is as often as nodes of it; nothing else is filled in. What a class of chunks demands of a
/// part is what it demands of a node there: a part has all that its nodes have. Cost: O(set sizes *
/// log). Pre: classes by pairs share no set with others.
[[nodiscard]] Collective quotient(const Collective& collective, std::span<const ChunkClass> classes,
                                  const Partition& partition);

} // namespace tutti::bounds
