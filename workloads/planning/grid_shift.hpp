// Grids that look the same from every NPU, as tori do: what is planned in one place holds in all.
#pragma once

#include "sim/ids.hpp"
#include "sim/topology.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// The network laid onto itself: everything moved by the same distances along the coordinates,
/// around the ends.
struct GridShift {
  std::vector<NodeId> nodes; ///< [node]: what it becomes
  std::vector<LinkId> links; ///< [link]: what it becomes; latency, bandwidth, dimension stay
};

/// The shift that takes each of `from` to that of the same rank in `to`. Nothing where there is
/// none, or the network isn't a full grid of NPUs alone, without shared groups.
/// Cost: O(members), and where they fit together O(nodes * dimensions + links).
[[nodiscard]] std::optional<GridShift>
shift_between(const Topology& topology, std::span<const NodeId> from, std::span<const NodeId> to);

} // namespace tutti
