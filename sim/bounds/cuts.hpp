// Node sets worth cutting around. Every set gives a valid bound; these are likely to be tight ones.
#pragma once

#include "sim/collective.hpp"
#include "sim/topology.hpp"

#include <vector>

namespace tutti::bounds {

using NodeSet = std::vector<bool>; ///< [node]: is it inside?

/// Two halves of those who take part: by coordinate (for each dimension), by NPU id, and grown
/// breadth-first from the first of them. Other nodes join the side with more bandwidth to it.
/// Cost: O(nodes * dimensions + links) each.
[[nodiscard]] std::vector<NodeSet> halves(const Topology& topology, const Collective& collective);

/// Nodes that belong together: what remains connected without links below a certain bandwidth (a
/// server, a row), and each switch or memory with the NPUs next to it. At least two NPUs inside and
/// one outside. Cost: O(links) for each of at most 8 bandwidths, O(nodes) for each other node.
[[nodiscard]] std::vector<NodeSet> clusters(const Topology& topology);

} // namespace tutti::bounds
