// Parts of networks, numbered so that parts which look alike are equal.
#pragma once

#include "sim/topology.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// The part of a network in which a group communicates: its members, first and in rank order, and
/// the nodes that aren't NPUs and lie between them (as part_of() says). The whole network, in its
/// own order, where that leaves a member out of another's reach, or the group is all NPUs by id.
struct GroupNetwork {
  Topology topology;
  std::vector<NodeId> nodes; ///< [node]: the same in the whole network
  std::vector<LinkId> links; ///< [link]: the same in the whole network
};
[[nodiscard]] GroupNetwork network_of(const Topology& topology, std::span<const NodeId> group);

/// The part in which a group communicates: the members, in rank order, and the nodes that aren't
/// NPUs and lie between them, as near as it takes for all members to reach each other, and one hop
/// farther, since what lies there may add bandwidth; without dead ends. Nodes are numbered as they
/// are first met from the members on, links by their ends (parallel ones by id). Coordinates are
/// kept where the members fill a grid: counted along each dimension in which members differ.
/// Nothing where members don't reach each other so.
/// Cost: O(nodes) bits and the links of all nodes that are met.
[[nodiscard]] std::optional<GroupNetwork> part_of(const Topology& topology,
                                                  std::span<const NodeId> group);

/// Nodes and links as given, renumbered in this order, without coordinates; shared groups as far as
/// they have links here. Pre: NPUs first; the ends of all links are among the nodes.
[[nodiscard]] GroupNetwork sub_network(const Topology& topology, std::span<const NodeId> nodes,
                                       std::span<const LinkId> links);

} // namespace tutti
