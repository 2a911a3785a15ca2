// NCCL's search for a path prefers the better type and, of one type, the wider path and then the
// shorter one. In a server the better type is the wider one: the links of a CPU's package, PCIe,
// and last what is between CPUs.
// Source: NCCL 2.30, graph/paths.cc (ncclTopoSetPaths).

#include "algorithms/nccl/host_path.hpp"

#include <algorithm>
#include <utility>

namespace tutti::nccl {

std::vector<LinkId> host_path(const Topology& topology, NodeId from, NodeId to,
                              const std::function<bool(NodeId)>& may_cross) {
  struct Reached {
    Bandwidth width;
    LinkId by; // invalid: not reached yet
  };
  std::vector<Reached> reached(topology.node_count());
  reached[from.value].width = Bandwidth{INT64_MAX};
  // Round after round what can be widened by one more hop: of one width the earlier round stays.
  for (std::vector<NodeId> at{from}; !at.empty();) {
    std::vector<NodeId> widened;
    for (const NodeId node : at)
      for (const LinkId l : topology.out_links(node)) {
        const NodeId next = topology.link(l).to;
        const Bandwidth width = std::min(reached[node.value].width, topology.link(l).bandwidth);
        if ((next != to && !may_cross(next)) || width <= reached[next.value].width) continue;
        reached[next.value] = {width, l};
        if (next != to) widened.push_back(next);
      }
    at = std::move(widened);
  }
  std::vector<LinkId> path;
  if (!reached[to.value].by.valid()) return path;
  for (NodeId at = to; at != from; at = topology.link(path.back()).from)
    path.push_back(reached[at.value].by);
  std::ranges::reverse(path);
  return path;
}

} // namespace tutti::nccl
