// Two engines that share no decision, held against each other. Where every crossing takes whole
// picoseconds their histories are the same; elsewhere the native engine rounds each crossing up to
// a picosecond and SimGrid rounds nothing, so that they may be a picosecond apart for each crossing
// of the chain that a time hangs on.
#pragma once

#include "sim/collective.hpp"
#include "sim/engines/engine.hpp"
#include "sim/iteration.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"
#include "sim/workload.hpp"

#include <cstdint>

namespace tutti {

/// How far a time may be off where crossings (and computations) are rounded to picoseconds.
class Rounding {
public:
  /// Of chunks on this network; as long as its rates don't change.
  Rounding(const Topology& topology, const Collective& collective);
  /// Of a workload, whose NPUs compute and communicate.
  Rounding(const Topology& topology, const Workload& workload, const WorkloadPlans& plans);

  /// Everything takes whole picoseconds.
  [[nodiscard]] bool is_none() const { return is_whole_ && whole_times_ == 1; }
  /// As many times as long, every crossing takes whole picoseconds; 0 where that is too long.
  [[nodiscard]] std::int64_t whole_times() const { return whole_times_; }
  /// A chain of this length has at most as many links as the shortest crossing fits in, and no more
  /// than there are, each of which is off by less than a picosecond; and a clock by 1e-9 of it.
  [[nodiscard]] Time over(Time length) const;
  [[nodiscard]] static Time of_clock(Time length);
  void make_changing() { is_whole_ = false; }
  /// No chain is longer than all that happens.
  void limit_chains(std::uint64_t links) { longest_chain_ = static_cast<double>(links); }

private:
  void take_crossings(const Topology& topology, const Collective& collective);
  void take_whole_times(std::int64_t denominator);

  bool is_whole_ = true; // but for the crossings
  std::int64_t whole_times_ = 1;
  double shortest_ = 1e18; // ps, of a crossing or computation
  double longest_chain_ = 1e18;
};

/// By how much what the engine says may be below a bound that holds: native rounds up. 0 for it.
[[nodiscard]] Time rounding_of(const EngineRow& engine, const Topology& topology,
                               const Collective& collective, Time bound);
[[nodiscard]] Time rounding_of(const EngineRow& engine, const Topology& topology,
                               const Workload& workload, const WorkloadPlans& plans, Time bound);

/// What is compared: the completion; deliveries and hops where both have recorded them; what went
/// over each link, and for how long it was busy; transfers that are stuck, and why.
[[nodiscard]] EngineAgreement agreement_of(const Topology& topology, const Collective& collective,
                                           const RunOptions& options, const Report& one,
                                           const Report& other);
/// The duration, each NPU's account, recorded operations, and what went over each link.
[[nodiscard]] EngineAgreement agreement_of(const Topology& topology, const Workload& workload,
                                           const WorkloadPlans& plans,
                                           const IterationOptions& options,
                                           const IterationReport& one,
                                           const IterationReport& other);

/// agreement_of(), and where it doesn't hold though not everything takes whole picoseconds, both
/// engines run again in finer time: sizes, latencies and every other time so many times as long
/// that every crossing takes whole picoseconds, or where that is too long 1,000, 100 or 10 times,
/// so that rounding is as much less. Where they agree then, the order of some crossings hung on
/// rounding, and nothing is wrong. Cost: up to four runs on both, each with its hops.
[[nodiscard]] EngineAgreement judged_agreement(const Topology& topology,
                                               const Collective& collective,
                                               const Schedule& schedule, const TimeModel& model,
                                               const RunOptions& options, const Report& one,
                                               const Report& other);
[[nodiscard]] EngineAgreement judged_agreement(const Topology& topology, const Workload& workload,
                                               const WorkloadPlans& plans,
                                               const IterationOptions& options,
                                               const IterationReport& one,
                                               const IterationReport& other);

/// "native and simgrid agree: 3ps apart at most, in the delivery of transfer 3 (25ps allowed for
/// rounding)".
[[nodiscard]] std::string to_text(const EngineAgreement& agreement);
/// Empty where it holds; else what is wrong, in words.
[[nodiscard]] std::string disagreement(const EngineAgreement& agreement);
/// What a reader has to know of an agreement that holds: that an order hangs on rounding; or empty.
[[nodiscard]] std::string remark(const EngineAgreement& agreement);

/// On native and on simgrid: the native report, and how far they agree, as judged_agreement() says.
/// Errors: as both.
[[nodiscard]] Report run_both(const Topology& topology, const Collective& collective,
                              const Schedule& schedule, const TimeModel& model,
                              const RunOptions& options = {});

} // namespace tutti
