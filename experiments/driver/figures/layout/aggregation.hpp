// A network with several nodes drawn as one.
#pragma once

#include "sim/topology.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::layouts {

struct Aggregate {
  Topology topology;                        ///< what is drawn
  std::vector<std::vector<NodeId>> members; ///< [node drawn], of the network itself
  std::vector<std::vector<LinkId>> links;   ///< [link drawn], of the network itself
  std::string note;                         ///< "each square is a server"; empty: nothing is joined
};

/// Every node by itself.
[[nodiscard]] Aggregate each_by_itself(const Topology& topology);

/// With fewer nodes: blocks of a grid, servers, groups, switches with what is attached to them
/// alone, nodes with the same neighbours, at last pairs of neighbours. Pre: two nodes or more.
[[nodiscard]] Aggregate coarser(const Aggregate& fine, const Topology& whole);

} // namespace tutti::layouts
