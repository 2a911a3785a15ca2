// A process group as a grid of its own, by the coordinates of its members.
#pragma once

#include "algorithms/routed_schedule.hpp"
#include "sim/topology.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Members stand at *places* 0 .. size-1: the place with coordinates c is the sum of
/// c[d] * axes[d].stride, where coordinates count the values that members have.
struct MemberGrid {
  struct Axis {
    std::size_t dimension; ///< of the topology
    std::size_t extent;    ///< values that the members have along it; >= 2
    std::size_t stride;    ///< between places that are neighbours along it
  };
  std::vector<Axis> axes;    ///< the dimensions in which members differ, in order
  std::vector<Rank> rank_at; ///< by place

  [[nodiscard]] std::size_t size() const { return rank_at.size(); }
  [[nodiscard]] std::size_t coordinate(std::size_t place, std::size_t axis) const {
    return place / axes[axis].stride % axes[axis].extent;
  }
};

struct MemberGridSearch {
  MemberGrid grid;
  std::string obstacle; ///< why there is none, in words; else empty
};

/// The grid of a group whose members are all that a set of values for each dimension allows.
/// Cost: O(members * (dimensions + log members)).
[[nodiscard]] MemberGridSearch find_member_grid(const Topology& topology,
                                                std::span<const NodeId> group);

} // namespace tutti
