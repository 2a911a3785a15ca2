// What a plan in the making has taken of the network, and where chunks are by it.
#pragma once

#include "synth/teccl/capacity_calendar.hpp"
#include "synth/teccl/problem.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

/// Sends may be entered in any order, also for later epochs before earlier ones.
class EpochLedger {
public:
  /// The problem must outlive this.
  EpochLedger(const EpochProblem& problem, std::span<const EpochSend> past);

  /// Whether the limits let one more chunk enter the lane in this epoch.
  [[nodiscard]] bool has_room(LaneId lane, Epoch epoch);
  /// Pre: has_room().
  void add(const EpochSend& send);
  /// Takes back what was added.
  void remove(const EpochSend& send);

  /// When the chunk is at a node that stores: 0 where it was held at the start; `no_epoch`
  /// where no send brings it.
  [[nodiscard]] Epoch arrival(ChunkId chunk, NodeId node) const {
    return arrivals_[std::size_t{chunk.value} * problem_->network.node_count() + node.value];
  }
  [[nodiscard]] bool is_sent(const EpochSend& send) const;
  /// Whether a node that doesn't store can pass the chunk on in this epoch: it arrives for it, and
  /// isn't passed on yet or can be copied.
  [[nodiscard]] bool can_pass(ChunkId chunk, NodeId node, Epoch epoch) const;

private:
  [[nodiscard]] Epoch& arrival_of(ChunkId chunk, NodeId node) {
    return arrivals_[std::size_t{chunk.value} * problem_->network.node_count() + node.value];
  }

  struct Passing {
    std::int32_t arrived = 0, passed = 0;
  };

  const EpochProblem* problem_;
  CapacityCalendar calendar_;
  std::vector<Epoch> arrivals_;                                   // [chunk * nodes + node]
  std::map<std::tuple<NodeId, Epoch, ChunkId>, Passing> passing_; // of nodes that don't store
  std::map<EpochSend, std::uint32_t> sent_;
};

} // namespace tutti
