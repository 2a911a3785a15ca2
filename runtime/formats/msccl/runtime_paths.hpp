// The path that a runtime takes from a rank to another. Its programs don't name one.
#pragma once

#include "sim/topology.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace tutti::runtime {

/// A direct link, parallel ones by channel. Where there is none, the fewest links, then the least
/// latency; where several go on as well as each other, the k-th of those for the k-th NPU at that
/// node (a GPU's own NIC, as NCCL's runtimes choose it: of NICs that are equally near, by the GPU's
/// number), else the one of least id. So what a rank sends to others leaves by one NIC, whatever
/// the channel.
class RuntimePaths {
public:
  explicit RuntimePaths(const Topology& topology) : topology_(topology) {}

  /// Errors: InputError where there is no path. Cost: O(links) for each destination.
  [[nodiscard]] std::vector<LinkId> links(NodeId from, NodeId to, std::uint32_t channel);

private:
  using Distance = std::pair<std::uint32_t, std::int64_t>; // links, picoseconds

  [[nodiscard]] std::vector<Distance> distances_to(NodeId to) const;
  [[nodiscard]] Distance beyond(const std::vector<Distance>& left, LinkId link) const;
  [[nodiscard]] std::size_t place_at(NodeId npu, NodeId node) const;

  const Topology& topology_;
  std::map<NodeId, std::vector<Distance>> left_; // [destination][node]
};

} // namespace tutti::runtime
