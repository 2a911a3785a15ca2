// Why: the number of cuts is exponential, and the tight ones of real networks are few: across a
// dimension, around a server, around a switch. Each of these is proposed by a pass over links;
// nodes that no proposal places join the side with which they share more bandwidth.

#include "synth/bounds/cuts.hpp"

#include "sim/graphs/disjoint_sets.hpp"
#include "synth/bounds/demand.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace tutti::bounds {

namespace {

enum class Side : std::uint8_t { none, inside, outside };

/// Nodes without a side join the one with more bandwidth to it, in order of ids and again until all
/// that are connected have one; those that have just joined count.
NodeSet two_sides(const Topology& topology, std::vector<Side> sides) {
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
std::vector<Side> split_at_median(const Topology& topology, std::span<const NodeId> members,
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
std::vector<Side> grown_half(const Topology& topology, std::span<const NodeId> members) {
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

/// Components over links of at least `threshold`, direction ignored.
Partition components(const Topology& topology, std::int64_t threshold) {
  DisjointSets joined(topology.node_count());
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    if (topology.effective_bandwidth(LinkId{l}).bytes_per_second >= threshold)
      joined.join(topology.link(LinkId{l}).from.value, topology.link(LinkId{l}).to.value);
  return completed(topology, std::move(joined).least());
}

/// Each node that isn't an NPU with the NPUs next to it, in the first partition where none of them
/// has a part yet; others stay on their own.
std::vector<Partition> neighbourhoods(const Topology& topology) {
  constexpr std::size_t tried = 16;
  std::vector<Partition> partitions;
  for (std::uint32_t v = topology.npu_count(); v < topology.node_count(); ++v) {
    std::vector<std::uint32_t> together{v};
    for (const LinkId link : topology.out_links(NodeId{v}))
      if (const NodeId to = topology.link(link).to; to.value < topology.npu_count())
        together.push_back(to.value);
    std::sort(together.begin(), together.end());
    together.erase(std::unique(together.begin(), together.end()), together.end());
    const std::size_t npus = together.size() - 1;
    if (npus < 2 || npus == topology.npu_count()) continue;
    const auto free = [&](const Partition& partition) {
      return std::all_of(together.begin(), together.end(),
                         [&](std::uint32_t node) { return partition.part_of[node] == no_part; });
    };
    auto at = std::find_if(partitions.begin(), partitions.end(), free);
    if (at == partitions.end()) {
      if (partitions.size() == tried) continue;
      at = partitions.insert(at, {std::vector(topology.node_count(), no_part), 0});
    }
    for (const std::uint32_t node : together) at->part_of[node] = v;
  }
  for (Partition& partition : partitions) {
    for (std::uint32_t v = 0; v < topology.node_count(); ++v)
      if (partition.part_of[v] == no_part) partition.part_of[v] = v;
    partition = completed(topology, std::move(partition.part_of));
  }
  return partitions;
}

/// Nodes with equal coordinates in the dimensions of `mask` (bit d); others join them.
Partition agreeing(const Topology& topology, std::uint64_t mask) {
  std::map<std::vector<int>, std::uint32_t> parts;
  std::vector<std::uint32_t> part_of;
  for (std::uint32_t v = 0; v < topology.node_count(); ++v) {
    std::vector<int> key;
    const std::span<const int> at = topology.coordinate(NodeId{v});
    for (std::size_t d = 0; d < at.size(); ++d)
      if ((mask >> d & 1) != 0) key.push_back(at[d]);
    const auto next = static_cast<std::uint32_t>(parts.size());
    part_of.push_back(at.empty() ? no_part : parts.emplace(key, next).first->second);
  }
  return completed(topology, std::move(part_of));
}

/// [k]: bandwidth of the links between coordinates below k and others in dimension d, bytes/s.
std::vector<int128> bandwidth_across(const Topology& topology, std::size_t d) {
  std::vector<int128> across(static_cast<std::size_t>(topology.shape()[d]) + 1);
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const std::span<const int> from = topology.coordinate(topology.link(LinkId{l}).from),
                               to = topology.coordinate(topology.link(LinkId{l}).to);
    if (from.empty() || to.empty() || from[d] == to[d]) continue;
    const std::int64_t bandwidth = topology.effective_bandwidth(LinkId{l}).bytes_per_second;
    across[static_cast<std::size_t>(std::min(from[d], to[d])) + 1] += bandwidth;
    across[static_cast<std::size_t>(std::max(from[d], to[d])) + 1] -= bandwidth;
  }
  std::partial_sum(across.begin(), across.end(), across.begin());
  return across;
}

/// Places to cut dimension d: those with the largest `demand(inside, outside)` per bandwidth.
template <typename DemandOf>
void add_places(std::set<int>& places, const std::vector<int128>& across,
                const std::vector<std::size_t>& members_below, DemandOf demand) {
  constexpr std::size_t tried = 4;
  std::vector<std::pair<double, int>> ranked; // the best first
  for (std::size_t k = 1; k + 1 < across.size(); ++k) {
    const auto inside = static_cast<double>(members_below[k]);
    const double outside = static_cast<double>(members_below.back()) - inside;
    if (inside > 0 && outside > 0)
      ranked.emplace_back(-demand(inside, outside) /
                              static_cast<double>(std::max<int128>(across[k], 1)),
                          static_cast<int>(k));
  }
  std::sort(ranked.begin(), ranked.end());
  for (std::size_t i = 0; i < ranked.size() && i < tried; ++i) places.insert(ranked[i].second);
}

} // namespace

std::vector<NodeSet> halves(const Topology& topology, std::span<const NodeId> who) {
  if (who.size() < 2) return {};
  std::vector<NodeSet> sets;
  for (std::size_t d = 0; d < topology.shape().size(); ++d)
    sets.push_back(two_sides(topology, split_at_median(topology, who, [&](NodeId node) {
                               const std::span<const int> at = topology.coordinate(node);
                               return at.empty() ? -1 : at[d];
                             })));
  sets.push_back(two_sides(topology, split_at_median(topology, who, [&](NodeId node) {
                             const bool placed = node.value < topology.npu_count() ||
                                                 std::binary_search(who.begin(), who.end(), node);
                             return placed ? static_cast<int>(node.value) : -1;
                           })));
  sets.push_back(two_sides(topology, grown_half(topology, who)));
  return sets;
}

std::vector<NodeSet> dimension_halves(const Topology& topology, std::span<const NodeId> who) {
  std::vector<NodeSet> sets;
  for (std::size_t d = 0; d < topology.shape().size(); ++d) {
    const std::vector<int128> across = bandwidth_across(topology, d);
    std::vector<std::size_t> below(across.size());
    for (const NodeId node : who)
      if (const std::span<const int> at = topology.coordinate(node); !at.empty())
        ++below[static_cast<std::size_t>(at[d]) + 1];
    std::partial_sum(below.begin(), below.end(), below.begin());
    std::set<int> places;
    add_places(places, across, below, [](double in, double out) { return in * out; });
    add_places(places, across, below, [](double in, double out) { return std::max(in, out); });
    for (const int place : places) {
      std::vector<Side> sides(topology.node_count(), Side::none);
      for (std::uint32_t v = 0; v < topology.node_count(); ++v)
        if (const std::span<const int> at = topology.coordinate(NodeId{v}); !at.empty())
          sides[v] = at[d] < place ? Side::inside : Side::outside;
      sets.push_back(two_sides(topology, std::move(sides)));
    }
  }
  return sets;
}

std::vector<Partition> clusters(const Topology& topology) {
  std::set<std::int64_t> bandwidths;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    bandwidths.insert(topology.effective_bandwidth(LinkId{l}).bytes_per_second);
  std::vector<Partition> partitions;
  constexpr std::size_t tried = 8;
  std::size_t rank = 0;
  for (const std::int64_t bandwidth : bandwidths) {
    if (rank++ == 0) continue; // the whole network
    if (rank > tried) break;
    partitions.push_back(components(topology, bandwidth));
  }
  for (Partition& partition : neighbourhoods(topology)) partitions.push_back(std::move(partition));
  return partitions;
}

std::vector<Partition> dimension_parts(const Topology& topology) {
  const std::size_t dimensions = topology.shape().size();
  if (dimensions < 2 || dimensions > 63) return {}; // of one, each part is an NPU or everything
  const std::uint64_t all = (std::uint64_t{1} << dimensions) - 1;
  std::vector<std::uint64_t> masks;
  const auto add = [&](std::uint64_t mask) {
    for (const std::uint64_t m : {mask, all & ~mask})
      if (m != 0 && m != all && std::find(masks.begin(), masks.end(), m) == masks.end())
        masks.push_back(m);
  };
  for (std::size_t d = 0; d < dimensions; ++d) add(std::uint64_t{1} << d);
  for (std::size_t d = 2; d < dimensions; ++d) add((std::uint64_t{1} << d) - 1);
  std::vector<Partition> partitions;
  for (const std::uint64_t mask : masks) partitions.push_back(agreeing(topology, mask));
  return partitions;
}

} // namespace tutti::bounds
