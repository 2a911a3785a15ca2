// All routings of an All-Gather on networks small enough to list them.
#pragma once

#include "sim/random.hpp"
#include "sim/topology.hpp"
#include "tests/samples.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::samples {

/// All spanning trees from `root`, as links by NPU: brute force over the link into each NPU.
inline void all_trees(const Topology& topology, NodeId root, std::uint32_t npu,
                      std::vector<LinkId>& into, std::vector<std::vector<LinkId>>& found) {
  if (npu == topology.npu_count()) {
    std::vector<LinkId> links;
    std::vector<NodeId> reached{root};
    for (std::size_t i = 0; i < reached.size(); ++i)
      for (std::uint32_t v = 0; v < topology.npu_count(); ++v)
        if (NodeId{v} != root && topology.link(into[v]).from == reached[i]) {
          links.push_back(into[v]);
          reached.push_back(NodeId{v});
        }
    if (reached.size() == topology.npu_count()) found.push_back(links);
    return;
  }
  if (NodeId{npu} == root) return all_trees(topology, root, npu + 1, into, found);
  for (const LinkId link : topology.in_links(NodeId{npu})) {
    into[npu] = link;
    all_trees(topology, root, npu + 1, into, found);
  }
}

/// Calls visit(trees) for each combination of a tree for each NPU's shard.
template <typename Visit> void for_each_routing(const Topology& network, const Visit& visit) {
  std::vector<std::vector<std::vector<LinkId>>> trees(network.npu_count());
  for (std::uint32_t npu = 0; npu < network.npu_count(); ++npu) {
    std::vector<LinkId> into(network.npu_count());
    all_trees(network, NodeId{npu}, 0, into, trees[npu]);
  }
  std::vector<std::size_t> at(network.npu_count());
  while (true) {
    std::vector<std::vector<LinkId>> chosen;
    for (std::uint32_t npu = 0; npu < network.npu_count(); ++npu)
      chosen.push_back(trees[npu][at[npu]]);
    visit(chosen);
    std::uint32_t npu = 0;
    while (npu < at.size() && ++at[npu] == trees[npu].size()) at[npu++] = 0;
    if (npu == at.size()) return;
  }
}

/// Directly connected NPUs with some links missing, of two kinds; connected.
inline Topology random_network(std::uint64_t seed, std::uint32_t count) {
  Random random(seed);
  TopologyParts parts = npus("random", count);
  for (std::uint32_t a = 0; a < count; ++a)
    for (std::uint32_t b = 0; b < count; ++b)
      if (a != b && (b == (a + 1) % count || random.below(2) == 0))
        parts.add_link({NodeId{a}, NodeId{b},
                        Time{200'000 + 300'000 * static_cast<std::int64_t>(random.below(2))},
                        Bandwidth{random.below(2) == 0 ? 20'000'000'000 : 40'000'000'000}});
  if (random.below(2) == 0) // what leaves NPU 0 shares a NIC
    parts.groups.push_back({"nic", {}, Bandwidth{20'000'000'000}});
  for (std::uint32_t l = 0; !parts.groups.empty() && l < parts.links.size(); ++l)
    if (parts.links[l].from == NodeId{0}) parts.groups[0].links.push_back(LinkId{l});
  return Topology(std::move(parts));
}

} // namespace tutti::samples
