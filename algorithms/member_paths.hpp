// A network as its NPUs see it: paths from one member of a group to another.
#pragma once

#include "sim/topology.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// From one member to another, over links and nodes outside the group (switches, other NPUs).
struct MemberPath {
  std::uint32_t from = 0, to = 0; ///< indices into the group
  std::vector<LinkId> links;
  std::int64_t capacity = 0; ///< bytes per second, at least 1
};

/// For each link out of a member, the shortest path that begins with it to each member that it
/// leads to without passing another. Where several paths share a link or a group of links, they
/// divide its bandwidth evenly. A network of direct links between members: each link is a path.
/// Cost: O(links) per link out of a member.
[[nodiscard]] std::vector<MemberPath> member_paths(const Topology& topology,
                                                   std::span<const NodeId> group);

} // namespace tutti
