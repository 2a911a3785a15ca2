// Paths between nodes that store, through switches that don't; what they say of distances, and how
// close chunks are to their destinations: what TE-CCL's rounds are paid for beside arrivals (sec.
// 4.2, "A*").
#pragma once

#include "synth/teccl/network.hpp"
#include "synth/timed/ids.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// From any node, through nodes that don't store, to one that does.
struct SwitchPath {
  std::uint32_t from = 0, delay = 0;
  std::vector<LaneId> lanes; ///< in order
};

/// [node that stores]: the paths to it without a node twice, by delay, then number of lanes, then
/// lanes; without those that need more of a limit than there is even if nothing else uses it. Those
/// from nodes that don't store are parts of others.
[[nodiscard]] std::vector<std::vector<SwitchPath>> switch_paths(const EpochNetwork& network);

/// Epochs from any node to any that stores, by delays alone (TE-CCL finds them by Floyd and
/// Warshall's algorithm). Cost: O(nodes * paths * log(paths)) time, 4 bytes for each pair.
class EpochDistances {
public:
  /// `paths`: switch_paths() of a network.
  explicit EpochDistances(std::span<const std::vector<SwitchPath>> paths);
  /// `unreachable` where there is no path.
  [[nodiscard]] std::uint32_t operator()(std::uint32_t from, std::uint32_t to) const {
    return away_[std::size_t{from} * nodes_ + to];
  }

private:
  std::uint32_t nodes_;
  std::vector<std::uint32_t> away_; // [from * nodes + to]
};

/// What a chunk is worth at this distance from a destination: 1 where it has arrived, and
/// 1 / (2 (1 + distance)) elsewhere, so that coming close never pays what arriving does. 0 where
/// there is no path.
[[nodiscard]] double closeness(std::uint32_t distance);

} // namespace tutti
