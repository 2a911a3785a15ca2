// When a chunk can be where: what a program over epochs doesn't need variables for. And the lanes
// as chunks take them within an epoch, so that no chunk feeds itself: among nodes that don't store,
// lanes without delay may form cycles.
#pragma once

#include "synth/teccl/network.hpp"
#include "synth/teccl/problem.hpp"
#include "synth/timed/ids.hpp"

#include <cstdint>
#include <optional>
#include <span>
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

/// Which epochs a program decides, and what has happened before.
struct EpochHorizon {
  Epoch begin{}, end{}; ///< sends begin in begin .. end - 1
  /// What has arrived and is under way then, and what limits still count, follows from it. Epochs
  /// below `begin`.
  std::span<const EpochSend> past = {};
  /// Arrivals at the beginning of epochs up to end + beyond count as well (what is still under way
  /// when a round ends).
  std::uint32_t beyond = 0;
  bool must_finish = true; ///< all demands are met by end + beyond
  /// Nothing follows: what nodes that don't store get for epoch `end` goes on in it where that
  /// takes no time.
  [[nodiscard]] bool is_last() const { return must_finish && beyond == 0; }
  /// The last epoch whose arrivals count.
  [[nodiscard]] Epoch last() const { return end + beyond; }
};

struct EpochWindow {
  Epoch first{1}, last{0};
  [[nodiscard]] bool empty() const { return first > last; }
  [[nodiscard]] std::uint32_t size() const { return empty() ? 0 : last.value - first.value + 1; }
};

/// The windows of one chunk.
struct EpochWindows {
  /// [node] From this epoch on it is there whatever is decided: it was at the start, arrived, or is
  /// under way there. Only for nodes that store.
  std::vector<std::optional<Epoch>> settled;
  /// [node that doesn't store] Arrivals of what was sent before the horizon, in it or later.
  std::vector<std::vector<Epoch>> past_arrivals;
  std::vector<Epoch> earliest;    ///< [place] The first possible arrival; `no_epoch` where never.
  std::vector<EpochWindow> sends; ///< [hop] Epochs in which it can be of use.
  /// [place] The last place through which all its paths to here lead, `earliest` epochs apart;
  /// none where there is none, or where it never comes.
  std::vector<PlaceId> dominator;
};

/// `past`: the sends of this chunk before the horizon.
[[nodiscard]] EpochWindows epoch_windows(const EpochProblem& problem, const EpochHops& hops,
                                         const EpochHorizon& horizon, ChunkId chunk,
                                         const std::vector<EpochSend>& past);

} // namespace tutti
