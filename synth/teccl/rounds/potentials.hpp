// How close chunks are to who wants them: what TE-CCL's rounds are paid for beside arrivals (sec.
// 4.2, "A*").
#pragma once

#include "synth/teccl/rounds/switch_paths.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Epochs from any node to any that stores, by delays alone (TE-CCL finds them by Floyd and
/// Warshall's algorithm). Cost: O(nodes * passages * log(passages)) time, 4 bytes for each pair.
class EpochDistances {
public:
  /// `passages`: epoch_passages() of a network.
  explicit EpochDistances(std::span<const std::vector<EpochPassage>> passages);
  /// `out_of_epochs` where there is no way.
  [[nodiscard]] std::uint32_t operator()(std::uint32_t from, std::uint32_t to) const {
    return away_[std::size_t{from} * nodes_ + to];
  }

private:
  std::uint32_t nodes_;
  std::vector<std::uint32_t> away_; // [from * nodes + to]
};

/// What a chunk is worth at this distance from one who wants it: 1 where it has arrived, and
/// 1 / (2 (1 + distance)) elsewhere, so that coming close never pays what arriving does. 0 where
/// there is no way.
[[nodiscard]] double closeness(std::uint32_t distance);

} // namespace tutti
