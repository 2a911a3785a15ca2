// Idea: one shortest-path search from an NPU, which goes on from no other NPU; paths are then read
// off backwards over all links that are on some shortest one.
#include "synth/taccl/npu_paths.hpp"

#include "sim/graphs/shortest_paths.hpp"

#include <limits>

namespace tutti {

namespace {

constexpr std::size_t most_parallel_paths = 8;
constexpr Bytes typical_chunk{std::int64_t{1} << 20};
constexpr std::int64_t out_of_reach = std::numeric_limits<std::int64_t>::max();

} // namespace

NpuPaths::NpuPaths(const Topology& network, NodeId from)
    : network_(network), from_(from), distances_(network.node_count(), out_of_reach) {
  const std::vector<std::uint32_t> sources{from.value};
  search_shortest_paths(distances_, sources,
                        [&](std::uint32_t node, std::int64_t distance, const auto& relax) {
                          if (node != from_.value && is_npu(NodeId{node})) return;
                          for (const LinkId link : network_.out_links(NodeId{node}))
                            relax(network_.link(link).to.value, distance + cost(link));
                        });
}

std::int64_t NpuPaths::cost(LinkId link) const {
  return network_.link(link).latency.ps +
         serialization(typical_chunk, network_.effective_bandwidth(link)).ps;
}

std::vector<std::vector<LinkId>> NpuPaths::to(NodeId npu) const {
  std::vector<std::vector<LinkId>> paths;
  std::vector<LinkId> path;
  if (distances_[npu.value] != out_of_reach) extend(npu, path, paths);
  return paths;
}

/// Backwards over links that are on a shortest path.
void NpuPaths::extend(NodeId node, std::vector<LinkId>& path,
                      std::vector<std::vector<LinkId>>& paths) const {
  if (node == from_) {
    paths.emplace_back(path.rbegin(), path.rend());
    return;
  }
  for (const LinkId link : network_.in_links(node)) {
    const NodeId before = network_.link(link).from;
    if (paths.size() >= most_parallel_paths) return;
    if ((is_npu(before) && before != from_) || distances_[before.value] == out_of_reach ||
        distances_[before.value] + cost(link) != distances_[node.value])
      continue;
    path.push_back(link);
    extend(before, path, paths);
    path.pop_back();
  }
}

} // namespace tutti
