// Lanes as chunks take them within an epoch, so that no chunk feeds itself: among nodes that don't
// store, lanes without delay may form cycles.
#pragma once

#include "synth/teccl/network.hpp"
#include "synth/timed/ids.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

/// A node; of one that doesn't store, what reaches it after so many lanes without delay.
struct EpochPlace {
  std::uint32_t node = 0, stage = 0;
};

using PlaceId = Id<struct PlaceTag>; ///< place of EpochHops

/// A lane between two places.
struct EpochHop {
  LaneId lane;
  PlaceId from, to;
  std::uint32_t delay = 1;
};

/// Stages count lanes without delay within a strongly connected part of nodes that don't store:
/// fewer than it has nodes, and none goes right back to where it came from.
struct EpochHops {
  std::vector<EpochPlace> places;                  ///< place v is node v, of stage 0
  std::vector<EpochHop> hops;                      ///< ascending by lane, stage
  std::vector<std::vector<std::uint32_t>> out, in; ///< [place]
  std::vector<std::vector<std::uint32_t>> of_lane; ///< [lane]

  [[nodiscard]] const EpochPlace& place(PlaceId id) const { return places[id.value]; }
};

/// Pre: lanes without delay come from nodes that don't store.
[[nodiscard]] EpochHops epoch_hops(const EpochNetwork& network);

} // namespace tutti
