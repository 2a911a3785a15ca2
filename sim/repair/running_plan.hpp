// A plan that is performed while the network changes: what the policies share.
#pragma once

#include "sim/engines/engine.hpp"
#include "sim/network_event.hpp"
#include "sim/repair/recovery.hpp"
#include "sim/repair/segment.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

/// What recover() was asked, with the events sorted.
struct RecoveryCase {
  const EngineRow& engine;
  const Topology& topology;
  const Collective& collective;
  const TimeModel& model;
  const Reaction& reaction;
  std::vector<NetworkEvent> events;

  [[nodiscard]] Time delay() const { return reaction.detection + reaction.decision; }
  /// How many events have happened up to and including this instant.
  [[nodiscard]] std::size_t events_by(Time instant) const;
  /// The network after the first `count` events.
  [[nodiscard]] NetworkState network(std::size_t count) const;
};

/// The whole collective by this schedule, from the beginning.
[[nodiscard]] Segment first_segment(const Collective& collective, Schedule schedule);

/// A plan that is being performed.
class RunningPlan {
public:
  RunningPlan(const RecoveryCase& asked, Segment plan) : asked_(&asked), plan_(std::move(plan)) {}

  [[nodiscard]] const Segment& plan() const { return plan_; }

  /// To its end, with the first `count` events. The last such run is kept.
  const Report& run(std::size_t count, std::span<const RouteChange> route_changes = {});

  /// Given up at an instant. What has set out by then ends, but nobody waits for links that are
  /// down by then: that they come up later doesn't count.
  [[nodiscard]] Report run_until(Time instant) const;

private:
  [[nodiscard]] RunOptions options() const;

  const RecoveryCase* asked_;
  Segment plan_;
  std::optional<Report> report_;
  std::size_t events_ = 0; // of report_
};

/// The plan with what became of it; it ends when the report is quiet, or at `not_before`.
[[nodiscard]] Segment performed(const Segment& plan, const Report& report, Time not_before);

} // namespace tutti
