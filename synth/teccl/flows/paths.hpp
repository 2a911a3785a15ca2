// Flows in time, cut into paths.
#pragma once

#include "synth/teccl/network.hpp"
#include "synth/timed/ids.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// An amount that enters a lane.
struct TimedAmount {
  Epoch epoch;
  LaneId lane;
  double amount = 0;
};

struct TimedStep {
  Epoch epoch;
  LaneId lane;
  auto operator<=>(const TimedStep&) const = default;
};

/// From a source on, in order; it visits no node that stores twice.
struct TimedPath {
  double amount = 0;
  std::vector<TimedStep> steps;
};

/// The flow of one source, from which paths are taken. What reaches a node that stores may wait
/// there. Flows that lead nowhere or round cycles do no harm. `network` must outlive it.
class FlowTracer {
public:
  FlowTracer(const EpochNetwork& network, NodeId source, std::span<const TimedAmount> amounts);

  /// A path to a node that stores, there by the beginning of `epoch`, of as large an amount as one
  /// path has, and at most `most`; it is taken out of the flow. Nothing where none is left. However
  /// paths are asked for, no other is lost: each node sends on what came last.
  [[nodiscard]] std::optional<TimedPath> take(NodeId destination, Epoch epoch, double most);

private:
  struct Entry {
    NodeId to;
    Epoch arrival;
    TimedAmount sent;
  };
  struct Visit { ///< of the search backwards
    NodeId node;
    Epoch epoch;
    std::size_t entry = 0; ///< that came there
  };
  [[nodiscard]] std::optional<std::size_t> supply(NodeId node, Epoch epoch) const;
  void cancel_cycle(std::vector<Visit>& back, NodeId node, Epoch epoch);
  void take_out(std::span<const Visit> visits, double amount);
  [[nodiscard]] double least(std::span<const Visit> visits) const;

  const EpochNetwork& network_;
  NodeId source_;
  std::vector<Entry> entries_; ///< by node, arrival, lane
};

/// Amounts below are numerical noise of a linear program's solution.
inline constexpr double least_flow = 1e-7;

} // namespace tutti
