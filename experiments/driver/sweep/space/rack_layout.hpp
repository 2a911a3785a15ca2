// What of a topology is built of cables, and how long they are: NPUs and switches stand in racks,
// racks in a grid.
#pragma once

#include "experiments/driver/sweep/space/cost_model.hpp"
#include "sim/topology.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::sweep {

/// A link and its opposite (the i-th from a to b and the i-th from b to a), or one link alone.
struct PhysicalCable {
  NodeId a, b; ///< a < b
  Bandwidth a_to_b = {}, b_to_a = {};
  [[nodiscard]] Bandwidth bandwidth() const { return std::max(a_to_b, b_to_a); }
};

/// Cables, by their ends. A shared group whose links all lead to one switch, or all come from one,
/// but aren't all that do, is a NIC of several NPUs: one cable with the group's bandwidth, at the
/// first of them. A group with opposite links, or without a node where all begin or all end, is a
/// bus, and no cable. Any other group only limits what its cables carry. Links of memory nodes are
/// no cables.
/// Cost: O(links log links).
[[nodiscard]] std::vector<PhysicalCable> physical_cables(const Topology& topology);

/// Position of a rack in its row, and of the row.
struct RackPlace {
  std::uint32_t column = 0, row = 0;
  bool operator==(const RackPlace&) const = default;
};

/// [node]: place of its rack. NPU i stands in rack i / npus_per_rack. A switch stands at the mean
/// of its neighbours, each counted for each cable, to the nearest rack (the lower of equals; where
/// the last row ends before, in the row before it): first those with NPUs as neighbours, by these,
/// then those with such switches, by these, and so on. What nothing leads to stands in the first
/// rack.
[[nodiscard]] std::vector<RackPlace> rack_places(const Topology& topology,
                                                 std::span<const PhysicalCable> cables,
                                                 const CostModel& model);

/// In metres.
[[nodiscard]] double cable_length(RackPlace from, RackPlace to, const CostModel& model);

} // namespace tutti::sweep
