// Where transfers begin and end, which is all that precedence needs to know of a network.
#pragma once

#include "sim/ids.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

/// Where a path begins and ends, and whether its end can store.
struct PathEnds {
  NodeId sender, receiver;
  bool stores = true;
};

/// The ends of all paths of a table, in its order.
[[nodiscard]] inline std::vector<PathEnds> ends_of(const Topology& topology,
                                                   const PathTable& paths) {
  std::vector<PathEnds> ends;
  ends.reserve(paths.size());
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    const NodeId receiver = topology.link(paths.last(PathId{p})).to;
    ends.push_back(
        {topology.link(paths.first(PathId{p})).from, receiver, topology.node(receiver).can.store});
  }
  return ends;
}

} // namespace tutti
