// Paths between NPUs through what isn't one, as communication libraries see them: a connection.
#pragma once

#include "sim/topology.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

/// From one NPU to others through no NPU, of least latency + 1 MiB / bandwidth.
class NpuPaths {
public:
  /// `network` must outlive this. Cost: O(links log nodes).
  NpuPaths(const Topology& network, NodeId from);

  /// The links of each of them, in the order of their links backwards, at most eight; empty where
  /// there is none.
  [[nodiscard]] std::vector<std::vector<LinkId>> to(NodeId npu) const;

private:
  [[nodiscard]] bool is_npu(NodeId node) const { return node.value < network_.npu_count(); }
  [[nodiscard]] std::int64_t cost(LinkId link) const;
  void extend(NodeId node, std::vector<LinkId>& path,
              std::vector<std::vector<LinkId>>& paths) const;

  const Topology& network_;
  NodeId from_;
  std::vector<std::int64_t> distances_; ///< [node]
};

} // namespace tutti
