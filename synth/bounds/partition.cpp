// Nodes without a part join by majority of bandwidth until nobody changes; parts are then numbered
// by their first node, so that equal partitions are equal whatever names they came with.

#include "synth/bounds/partition.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

namespace tutti::bounds {

namespace {

/// The part with more than half of the bandwidth to and from neighbours that have one.
std::optional<std::uint32_t> majority(const Topology& topology,
                                      const std::vector<std::uint32_t>& part_of, NodeId node) {
  std::map<std::uint32_t, double> bandwidth;
  double total = 0;
  const auto weigh = [&](LinkId link, NodeId neighbour) {
    const std::uint32_t part = part_of[neighbour.value];
    if (part == no_part) return;
    const auto weight = static_cast<double>(topology.effective_bandwidth(link).bytes_per_second);
    bandwidth[part] += weight;
    total += weight;
  };
  for (const LinkId link : topology.out_links(node)) weigh(link, topology.link(link).to);
  for (const LinkId link : topology.in_links(node)) weigh(link, topology.link(link).from);
  for (const auto& [part, sum] : bandwidth)
    if (2 * sum > total) return part;
  return std::nullopt;
}

} // namespace

Partition completed(const Topology& topology, std::vector<std::uint32_t> part_of) {
  std::vector<NodeId> without;
  for (std::uint32_t v = 0; v < topology.node_count(); ++v)
    if (part_of[v] == no_part) without.emplace_back(v);
  for (std::size_t left = without.size() + 1; without.size() < left;) {
    left = without.size();
    std::erase_if(without, [&](NodeId node) {
      const auto part = majority(topology, part_of, node);
      if (part) part_of[node.value] = *part;
      return part.has_value();
    });
  }
  Partition result;
  std::map<std::uint32_t, std::uint32_t> number;
  for (const std::uint32_t part : part_of) {
    const bool known = part != no_part && !number.emplace(part, result.parts).second;
    result.part_of.push_back(known ? number.at(part) : result.parts++);
  }
  return result;
}

Collective quotient(const Collective& collective, std::span<const ChunkClass> classes,
                    const Partition& partition) {
  std::vector<bool> counts(collective.sets.size()); // [set]: nodes are counted
  for (const ChunkClass& c : classes)
    if (c.by_pairs) counts[c.sources] = counts[c.destinations] = true;
  Collective result;
  for (const std::vector<NodeId>& set : collective.sets) {
    std::vector<NodeId>& parts = result.sets.emplace_back();
    for (const NodeId node : set) parts.emplace_back(partition.part_of[node.value]);
    std::sort(parts.begin(), parts.end());
    if (!counts[result.sets.size() - 1])
      parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  }
  return result;
}

} // namespace tutti::bounds
