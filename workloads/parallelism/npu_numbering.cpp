// Only the two numberings are tried that topologies have: row by row, with the last dimension
// fastest, and column by column.
#include "workloads/parallelism/npu_numbering.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>

namespace tutti {

std::vector<std::size_t> dimensions_by_speed(const Topology& topology) {
  const std::span<const int> shape = topology.shape();
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto is_numbered_so = [&] {
    for (std::uint32_t npu = 0; npu < topology.npu_count(); ++npu) {
      auto rest = static_cast<int>(npu);
      for (const std::size_t d : order) {
        if (topology.coordinate(NodeId{npu})[d] != rest % shape[d]) return false;
        rest /= shape[d];
      }
      if (rest != 0) return false;
    }
    return true;
  };
  for (int turn = 0; turn < 2; ++turn) { // the last dimension fastest, then the first
    std::reverse(order.begin(), order.end());
    if (is_numbered_so()) return order;
  }
  return {};
}

} // namespace tutti
