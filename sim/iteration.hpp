// Running a workload: computing and communicating in one simulation, on either engine.
#pragma once

#include "sim/collective.hpp"
#include "sim/engines/engine.hpp"
#include "sim/network_event.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/synthesizer.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/watch.hpp"
#include "sim/workload.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// A verified schedule, on a network of its own: a group's part of the whole network, or all of it.
struct CommunicationPlan {
  Collective collective;
  Schedule schedule;
  std::string algorithm;                     ///< "tacos", for reports
  std::optional<LibraryChoice> library = {}; ///< how a runtime carries it, where that is known
  /// The time of each call from when its members are there (one at a time: the first of them) until
  /// the first transfer may begin.
  Time launch = {};
};

/// Where a plan's network lies in the whole. Groups that look the same share a plan.
struct PlacedPlan {
  std::shared_ptr<const CommunicationPlan> plan;
  std::vector<LinkId> links; ///< [link of the plan's network]: the same link in the whole one
  std::vector<NodeId> nodes; ///< [node of the plan's network]: the same node in the whole one
};

/// The plans of a workload: one for each of requests_of(), in that order.
struct WorkloadPlans {
  std::vector<CommunicationRequest> requests;
  std::vector<PlacedPlan> plans;
};

struct IterationOptions {
  TimeModel model;
  /// As sorted_events() gives them. A straggler (npu_rate) computes at its share, too, from the
  /// next operation on. NPUs that go down are refused: training doesn't survive them.
  std::span<const NetworkEvent> events = {};
  /// Per NPU: at what part of its speed it computes; empty: all at full speed.
  std::span<const Share> compute_shares = {};
  /// Per node: when an NPU begins its program; 0 for other nodes. Empty: all at 0. Before that it
  /// neither computes nor sends nor takes delivery: what is sent to it waits there, and is over for
  /// its sender when it is delivered. What it passes on for groups that it isn't in goes on.
  std::span<const Time> starts = {};
  /// Communication that meets no other on any link is taken from a replay of its plan alone, once
  /// for all that are alike. The same times, sooner. The native engine only; simgrid never folds.
  bool fold = true;
  /// As in ASTRA-sim, an NPU has one collective or send at a time; when it is over for it, the one
  /// with the lowest turn of those that are ready follows. Receiving is free. A member begins its
  /// part of a collective when it reaches it, others there or not: it sends what it has, and what
  /// arrives before it is there waits at it. The collective is over for it when all that it
  /// receives has been delivered (where it receives nothing: all that it sends).
  bool one_at_a_time = false;
  /// NPUs whose operations are recorded (IterationReport::spans); ascending.
  std::span<const NodeId> record = {};
  Watch watch = {}; ///< counts operations that are over; of simgrid nobody knows
};

/// Where one NPU's time goes. The parts add up to IterationReport::duration exactly.
struct TimeAccount {
  Time compute;
  /// Nothing was computed, and what the next operation waited for was communication under way.
  std::array<Time, purpose_count> exposed = {};
  /// Nothing was computed, and what the next operation waited for had not begun, as another NPU
  /// wasn't there yet: the pipeline's bubble where it waited for another stage (Purpose::pipeline),
  /// `waiting` otherwise; and the time after an NPU's last operation: the bubble where the NPU has
  /// pipeline communication, `waiting` otherwise. Before an NPU starts it is `waiting`.
  Time bubble, waiting;
  [[nodiscard]] Time total() const;
  bool operator==(const TimeAccount&) const = default;
};

/// An operation of an NPU that is recorded.
struct OperationSpan {
  NodeId npu;
  std::uint32_t operation = 0; ///< index into its program
  /// When it was reached (its NPU there, and one at a time the communication before it over), began
  /// (of communication: for all its members, but of a collective, one at a time, for this one) and
  /// was over.
  Time reached, begin, end;
  bool operator==(const OperationSpan&) const = default;
};

struct IterationReport {
  std::string engine;
  TimeModel model;
  /// Duration of all iterations that the workload holds: until the last operation is over and the
  /// last NPU is there.
  Time duration;
  std::vector<TimeAccount> accounts; ///< per NPU
  /// Per NPU: for how long communication of each purpose was under way, hidden or exposed (times
  /// of several at once count once).
  std::vector<std::array<Time, purpose_count>> communication;
  std::vector<LinkUse> links;
  std::vector<OperationSpan> spans; ///< by NPU, then operation
  std::uint64_t operations = 0, communications = 0;
  std::uint64_t link_transfers = 0; ///< crossings of a link, folded ones included
  std::uint64_t replayed = 0;       ///< crossings that were simulated one by one
};

/// Errors: InputError as check_workload(), for plans that don't fit the requests, a discipline
/// other than fifo, an event that is refused, starts that aren't one per node or not from 0 to 53
/// days or above 0 at a node that is no NPU; where the run comes to a halt (members that wait for
/// each other in a cycle, links that stay down), naming who waits for whom in which operation.
/// Stopped where the watch says so.
[[nodiscard]] IterationReport run_iteration_native(const Topology& topology,
                                                   const Workload& workload,
                                                   const WorkloadPlans& plans,
                                                   const IterationOptions& options = {});
[[nodiscard]] IterationReport run_iteration_simgrid(const Topology& topology,
                                                    const Workload& workload,
                                                    const WorkloadPlans& plans,
                                                    const IterationOptions& options = {});

} // namespace tutti
