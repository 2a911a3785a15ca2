#include "sim/bounds/cuts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>

namespace tutti::bounds {

namespace {

enum class Side : std::uint8_t { none, inside, outside };

/// Everyone who holds or wants something, ascending.
std::vector<NodeId> members(const Topology& topology, const Collective& collective) {
  std::vector<bool> set_used(collective.sets.size()), used(topology.node_count());
  for (const Chunk& chunk : collective.chunks)
    set_used[chunk.held_by] = set_used[chunk.wanted_by] = true;
  for (std::size_t s = 0; s < collective.sets.size(); ++s)
    if (set_used[s])
      for (const NodeId node : collective.sets[s]) used[node.value] = true;
  std::vector<NodeId> result;
  for (std::uint32_t v = 0; v < topology.node_count(); ++v)
    if (used[v]) result.emplace_back(v);
  return result;
}

/// Nodes without a side join the one with more bandwidth to it, round by round outwards.
NodeSet completed(const Topology& topology, std::vector<Side> sides) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t v = 0; v < topology.node_count(); ++v) {
      if (sides[v] != Side::none) continue;
      double balance = 0;
      bool decided = false;
      const auto weigh = [&](LinkId link, NodeId neighbour) {
        const Side side = sides[neighbour.value];
        if (side == Side::none) return;
        const auto weight =
            static_cast<double>(topology.effective_bandwidth(link).bytes_per_second);
        balance += side == Side::inside ? weight : -weight;
        decided = true;
      };
      for (const LinkId link : topology.out_links(NodeId{v})) weigh(link, topology.link(link).to);
      for (const LinkId link : topology.in_links(NodeId{v})) weigh(link, topology.link(link).from);
      if (!decided) continue;
      sides[v] = balance >= 0 ? Side::inside : Side::outside;
      changed = true;
    }
  }
  NodeSet inside(topology.node_count());
  for (std::uint32_t v = 0; v < topology.node_count(); ++v) inside[v] = sides[v] == Side::inside;
  return inside;
}

/// Inside: `position` below its median over the members, for others with a position too.
template <typename Position>
std::vector<Side> split_at_median(const Topology& topology, const std::vector<NodeId>& members,
                                  Position position) {
  std::vector<int> positions;
  for (const NodeId node : members)
    if (const int p = position(node); p >= 0) positions.push_back(p);
  std::vector<Side> sides(topology.node_count(), Side::none);
  if (positions.empty()) return sides;
  const auto middle = positions.begin() + static_cast<std::ptrdiff_t>(positions.size() / 2);
  std::nth_element(positions.begin(), middle, positions.end());
  for (std::uint32_t v = 0; v < topology.node_count(); ++v)
    if (const int p = position(NodeId{v}); p >= 0)
      sides[v] = p < *middle ? Side::inside : Side::outside;
  return sides;
}

/// Breadth-first from the first member until half of the members are inside.
std::vector<Side> grown_half(const Topology& topology, const std::vector<NodeId>& members) {
  std::vector<Side> sides(topology.node_count(), Side::none);
  for (const NodeId member : members) sides[member.value] = Side::outside;
  std::vector<bool> seen(topology.node_count());
  std::vector<NodeId> queue{members.front()};
  seen[members.front().value] = true;
  std::size_t wanted = members.size() / 2;
  for (std::size_t i = 0; i < queue.size() && wanted > 0; ++i) {
    const NodeId node = queue[i];
    if (sides[node.value] == Side::outside) --wanted;
    sides[node.value] = Side::inside;
    for (const LinkId link : topology.out_links(node)) {
      const NodeId next = topology.link(link).to;
      if (seen[next.value]) continue;
      seen[next.value] = true;
      queue.push_back(next);
    }
  }
  return sides;
}

bool cuts_npus(const Topology& topology, const NodeSet& inside) {
  const auto end = inside.begin() + topology.npu_count();
  const auto count = std::count(inside.begin(), end, true);
  return count >= 2 && count < static_cast<std::ptrdiff_t>(topology.npu_count());
}

/// Components over links of at least `threshold`, direction ignored.
std::vector<NodeSet> components(const Topology& topology, std::int64_t threshold) {
  std::vector<std::uint32_t> parent(topology.node_count());
  std::iota(parent.begin(), parent.end(), 0U);
  const auto root = [&](std::uint32_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    if (topology.effective_bandwidth(LinkId{l}).bytes_per_second >= threshold)
      parent[root(topology.link(LinkId{l}).from.value)] = root(topology.link(LinkId{l}).to.value);
  std::vector<std::vector<std::uint32_t>> nodes_of(topology.node_count());
  for (std::uint32_t v = 0; v < topology.node_count(); ++v) nodes_of[root(v)].push_back(v);
  std::vector<NodeSet> sets;
  for (const std::vector<std::uint32_t>& nodes : nodes_of) {
    if (nodes.size() < 2) continue;
    NodeSet inside(topology.node_count());
    for (const std::uint32_t v : nodes) inside[v] = true;
    if (cuts_npus(topology, inside)) sets.push_back(std::move(inside));
  }
  return sets;
}

} // namespace

std::vector<NodeSet> halves(const Topology& topology, const Collective& collective) {
  const std::vector<NodeId> who = members(topology, collective);
  if (who.size() < 2) return {};
  std::vector<NodeSet> sets;
  for (std::size_t d = 0; d < topology.shape().size(); ++d)
    sets.push_back(completed(topology, split_at_median(topology, who, [&](NodeId node) {
                               const std::span<const int> at = topology.coordinate(node);
                               return at.empty() ? -1 : at[d];
                             })));
  sets.push_back(completed(topology, split_at_median(topology, who, [&](NodeId node) {
                             const bool placed = node.value < topology.npu_count() ||
                                                 std::binary_search(who.begin(), who.end(), node);
                             return placed ? static_cast<int>(node.value) : -1;
                           })));
  sets.push_back(completed(topology, grown_half(topology, who)));
  return sets;
}

std::vector<NodeSet> clusters(const Topology& topology) {
  std::set<std::int64_t> bandwidths;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    bandwidths.insert(topology.effective_bandwidth(LinkId{l}).bytes_per_second);
  std::vector<NodeSet> sets;
  constexpr std::size_t tried = 8;
  std::size_t rank = 0;
  for (const std::int64_t bandwidth : bandwidths) {
    if (rank++ == 0) continue; // the whole network
    if (rank > tried) break;
    for (NodeSet& set : components(topology, bandwidth)) sets.push_back(std::move(set));
  }
  for (std::uint32_t v = topology.npu_count(); v < topology.node_count(); ++v) {
    NodeSet inside(topology.node_count());
    inside[v] = true;
    for (const LinkId link : topology.out_links(NodeId{v}))
      if (topology.link(link).to.value < topology.npu_count())
        inside[topology.link(link).to.value] = true;
    if (cuts_npus(topology, inside)) sets.push_back(std::move(inside));
  }
  return sets;
}

} // namespace tutti::bounds
