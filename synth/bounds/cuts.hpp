// Node sets worth cutting around. Every set gives a valid bound; these are likely to be tight ones.
#pragma once

#include "sim/topology.hpp"
#include "synth/bounds/partition.hpp"

#include <span>
#include <vector>

namespace tutti::bounds {

using NodeSet = std::vector<bool>; ///< [node]: is it inside?

/// Two halves of those who take part (`members`, ascending): by coordinate (for each dimension), by
/// NPU id, and grown breadth-first from the first of them. Other nodes join the side with more
/// bandwidth to it. Cost: O(nodes * dimensions + links) each.
[[nodiscard]] std::vector<NodeSet> halves(const Topology& topology,
                                          std::span<const NodeId> members);

/// For each dimension, where its coordinates can be cut in two with few links in between: at most 8
/// places, the best by what may have to cross. Cost: O(links) for each dimension; O(nodes + links)
/// for each place.
[[nodiscard]] std::vector<NodeSet> dimension_halves(const Topology& topology,
                                                    std::span<const NodeId> members);

/// Nodes that belong together: what remains connected without links below a certain bandwidth (a
/// server, a row), for each of at most 8 bandwidths; each switch or memory with the NPUs next to
/// it, those that overlap in partitions of their own, at most 16. Cost: O(links) for each.
[[nodiscard]] std::vector<Partition> clusters(const Topology& topology);

/// NPUs with the same coordinates in one dimension, in all others, in the first few or in the last
/// few (of rfs:2x4x8: each ring, each fully connected group, each switch with its NPUs, the 8 NPUs
/// of each 2x4). Cost: O(links + nodes log nodes) for each, up to 4 per dimension.
[[nodiscard]] std::vector<Partition> dimension_parts(const Topology& topology);

} // namespace tutti::bounds
