// A translation of a torus is an automorphism where nodes and links are alike everywhere. The ranks
// of two groups fix its distances, so that there is one candidate, which is checked link by link;
// no search for automorphisms is needed.
#include "workloads/planning/grid_shift.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

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
std::vector<int> distances(const Topology& topology, NodeId from, NodeId to) {
  std::vector<int> result;
  for (std::size_t d = 0; d < topology.shape().size(); ++d) {
    const int extent = topology.shape()[d];
    result.push_back((topology.coordinate(to)[d] - topology.coordinate(from)[d] + extent) % extent);
  }
  return result;
}

/// By coordinates: a row-major number.
std::size_t position(const Topology& topology, NodeId node, std::span<const int> moved) {
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
    at[position(topology, NodeId{n}, not_moved)] = NodeId{n};
  for (std::uint32_t n = 0; n < topology.node_count(); ++n)
    nodes.push_back(at[position(topology, NodeId{n}, moved)]);
  return nodes;
}

bool is_same(const Node& a, const Node& b) {
  return a.can == b.can && a.reduce_rate == b.reduce_rate;
}

bool is_same(const Link& a, const Link& b) {
  return a.latency == b.latency && a.bandwidth == b.bandwidth && a.dimension == b.dimension;
}

} // namespace

std::optional<GridShift> shift_between(const Topology& topology, std::span<const NodeId> from,
                                       std::span<const NodeId> to) {
  if (from.empty() || from.size() != to.size() || !is_full_grid(topology)) return std::nullopt;
  const std::vector<int> moved = distances(topology, from.front(), to.front());
  for (std::size_t rank = 1; rank < from.size(); ++rank)
    if (distances(topology, from[rank], to[rank]) != moved) return std::nullopt;

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

} // namespace tutti
