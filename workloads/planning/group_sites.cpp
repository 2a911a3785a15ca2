// Parts of networks are looked up by a fingerprint of their content, and compared in full where
// that is equal. Groups on the whole network are compared one by one, since translations have no
// fingerprint; there are few of them.
//
// Grids may look the same from every NPU, as tori do: what is planned in one place holds in all. A
// translation of a torus is an automorphism where nodes and links are alike everywhere. The ranks
// of two groups fix its distances, so that there is one candidate, which is checked link by link;
// no search for automorphisms is needed.

#include "workloads/planning/group_sites.hpp"

#include "workloads/planning/group_network.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace tutti {

namespace {

/// As many NPUs as places, and no two at one place, which Topology sees to.
bool is_full_grid(const Topology& topology) {
  std::size_t places = topology.shape().empty() ? 0 : 1;
  for (const int extent : topology.shape())
    places = std::min<std::size_t>(places * static_cast<std::size_t>(extent),
                                   std::size_t{topology.npu_count()} + 1);
  return places == topology.npu_count() && topology.node_count() == topology.npu_count() &&
         topology.groups().empty();
}

/// Per dimension, modulo its extent.
std::vector<int> grid_distances(const Topology& topology, NodeId from, NodeId to) {
  std::vector<int> result;
  for (std::size_t d = 0; d < topology.shape().size(); ++d) {
    const int extent = topology.shape()[d];
    result.push_back((topology.coordinate(to)[d] - topology.coordinate(from)[d] + extent) % extent);
  }
  return result;
}

/// By coordinates: a row-major number.
std::size_t grid_position(const Topology& topology, NodeId node, std::span<const int> moved) {
  std::size_t index = 0;
  for (std::size_t d = 0; d < moved.size(); ++d) {
    const int extent = topology.shape()[d];
    index = index * static_cast<std::size_t>(extent) +
            static_cast<std::size_t>((topology.coordinate(node)[d] + moved[d]) % extent);
  }
  return index;
}

std::vector<NodeId> moved_nodes(const Topology& topology, std::span<const int> moved) {
  std::vector<NodeId> at(topology.node_count()), nodes;
  const std::vector<int> not_moved(moved.size());
  for (std::uint32_t n = 0; n < topology.node_count(); ++n)
    at[grid_position(topology, NodeId{n}, not_moved)] = NodeId{n};
  for (std::uint32_t n = 0; n < topology.node_count(); ++n)
    nodes.push_back(at[grid_position(topology, NodeId{n}, moved)]);
  return nodes;
}

bool is_same(const Node& a, const Node& b) {
  return a.can == b.can && a.reduce_rate == b.reduce_rate;
}

bool is_same(const Link& a, const Link& b) {
  return a.latency == b.latency && a.bandwidth == b.bandwidth && a.dimension == b.dimension;
}

/// The network laid onto itself: everything moved by the same distances along the coordinates,
/// around the ends.
struct GridShift {
  std::vector<NodeId> nodes; ///< [node]: what it becomes
  std::vector<LinkId> links; ///< [link]: what it becomes; latency, bandwidth, dimension stay
};

/// The shift that takes each of `from` to that of the same rank in `to`. Nothing where there is
/// none, or the network isn't a full grid of NPUs alone, without shared groups.
/// Cost: O(members), and where they fit together O(nodes * dimensions + links).
std::optional<GridShift> shift_between(const Topology& topology, std::span<const NodeId> from,
                                       std::span<const NodeId> to) {
  if (from.empty() || from.size() != to.size() || !is_full_grid(topology)) return std::nullopt;
  const std::vector<int> moved = grid_distances(topology, from.front(), to.front());
  for (std::size_t rank = 1; rank < from.size(); ++rank)
    if (grid_distances(topology, from[rank], to[rank]) != moved) return std::nullopt;

  GridShift shift{moved_nodes(topology, moved), std::vector<LinkId>(topology.link_count())};
  std::vector<bool> is_taken(topology.link_count());
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    const NodeId image = shift.nodes[n];
    if (!is_same(topology.node(NodeId{n}), topology.node(image))) return std::nullopt;
    if (topology.out_links(NodeId{n}).size() != topology.out_links(image).size())
      return std::nullopt;
    for (const LinkId id : topology.out_links(NodeId{n})) {
      const Link& link = topology.link(id);
      const auto candidates = topology.out_links(image);
      const auto found = std::ranges::find_if(candidates, [&](LinkId other) {
        return !is_taken[other.value] && topology.link(other).to == shift.nodes[link.to.value] &&
               is_same(link, topology.link(other));
      });
      if (found == candidates.end()) return std::nullopt;
      is_taken[found->value] = true;
      shift.links[id.value] = *found;
    }
  }
  return shift;
}

} // namespace

GroupPlace GroupSites::on_part(GroupNetwork part, std::size_t members) {
  const std::uint64_t hash = content_fingerprint(part.topology, with_names_);
  const auto [first, last] = by_content_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const GroupSite& site = sites_[it->second];
    if (site.members.size() == members && look_alike(*site.network, part.topology, with_names_))
      return {it->second, std::move(part.nodes), std::move(part.links)};
  }
  GroupSite site{std::make_shared<const Topology>(std::move(part.topology)), {}};
  for (std::uint32_t rank = 0; rank < members; ++rank) site.members.emplace_back(rank);
  sites_.push_back(std::move(site));
  by_content_.emplace(hash, sites_.size() - 1);
  return {sites_.size() - 1, std::move(part.nodes), std::move(part.links)};
}

GroupPlace GroupSites::on_whole(const std::vector<NodeId>& group) {
  for (const std::size_t site : on_whole_) {
    if (sites_[site].members == group) return {site, {}, {}};
    if (std::optional<GridShift> shift = shift_between(whole_, sites_[site].members, group))
      return {site, std::move(shift->nodes), std::move(shift->links)};
  }
  on_whole_.push_back(sites_.size());
  sites_.push_back({nullptr, group});
  return {on_whole_.back(), {}, {}};
}

} // namespace tutti
