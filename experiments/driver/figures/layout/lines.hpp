// How links run between nodes that have their places.
#pragma once

#include "experiments/driver/figures/layout/arrangement.hpp"
#include "sim/topology.hpp"

#include <vector>

namespace tutti::layouts {

/// [link]: from edge to edge, side by side where two nodes have several. `squares` [node]: whether
/// it is a square and no disc. Cost: O(links log links).
[[nodiscard]] std::vector<LayoutLink> lines_of(const Topology& topology,
                                               const Arrangement& arrangement,
                                               const std::vector<bool>& squares);

} // namespace tutti::layouts
