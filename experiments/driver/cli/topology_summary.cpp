// Counts of what a topology is made of. The diameter is a breadth-first search from every NPU;
// beyond 4,096 NPUs only the first one's is made, which still finds most networks that aren't
// connected.
#include "experiments/driver/cli/topology_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tutti {

namespace {

constexpr std::uint32_t most_npus_searched = 4096;
constexpr std::uint32_t not_reached = UINT32_MAX;

void count_link(std::vector<LinkClass>& classes, const Topology& topology, const Link& link) {
  const NodeKind from = topology.node(link.from).kind, to = topology.node(link.to).kind;
  for (LinkClass& known : classes)
    if (known.from == from && known.to == to && known.dimension == link.dimension &&
        known.bandwidth == link.bandwidth && known.latency == link.latency) {
      ++known.count;
      return;
    }
  classes.push_back({from, to, link.dimension, link.bandwidth, link.latency, 1});
}

// Hops from one node to every node, breadth first.
std::vector<std::uint32_t> hops_from(const Topology& topology, NodeId start) {
  std::vector<std::uint32_t> hops(topology.node_count(), not_reached);
  std::vector<NodeId> queue{start};
  hops[start.value] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const LinkId link : topology.out_links(queue[i])) {
      const NodeId next = topology.link(link).to;
      if (hops[next.value] != not_reached) continue;
      hops[next.value] = hops[queue[i].value] + 1;
      queue.push_back(next);
    }
  return hops;
}

// Looks from as many NPUs as is quick: from all of them, or else from the first.
void search(const Topology& topology, TopologySummary& summary) {
  const bool all = summary.npus <= most_npus_searched;
  Diameter diameter{0, NodeId{0}, NodeId{0}};
  for (std::uint32_t from = 0; from < (all ? summary.npus : 1); ++from) {
    const auto hops = hops_from(topology, NodeId{from});
    for (std::uint32_t to = 0; to < summary.npus; ++to) {
      if (hops[to] == not_reached) {
        summary.unreachable = fmt::format("{} can't reach {}", topology.node(NodeId{from}).name,
                                          topology.node(NodeId{to}).name);
        return;
      }
      if (hops[to] > diameter.hops) diameter = {hops[to], NodeId{from}, NodeId{to}};
    }
  }
  if (all && summary.npus > 0) summary.diameter = diameter;
}

void widen(DegreeRange& range, std::size_t degree, bool first) {
  const auto value = static_cast<std::uint32_t>(degree);
  range.least = first ? value : std::min(range.least, value);
  range.most = std::max(range.most, value);
}

} // namespace

TopologySummary summarize(const Topology& topology) {
  TopologySummary summary;
  summary.npus = topology.npu_count();
  summary.links = topology.link_count();
  for (const Node& node : topology.nodes()) {
    summary.switches += node.kind == NodeKind::switching;
    summary.memories += node.kind == NodeKind::memory;
  }
  for (const Link& link : topology.links()) count_link(summary.classes, topology, link);
  for (std::uint32_t npu = 0; npu < summary.npus; ++npu) {
    widen(summary.npu_out_links, topology.out_links(NodeId{npu}).size(), npu == 0);
    widen(summary.npu_in_links, topology.in_links(NodeId{npu}).size(), npu == 0);
  }
  search(topology, summary);
  return summary;
}

std::string counted(std::size_t number, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", number, number == 1 ? one : several);
}

} // namespace tutti
