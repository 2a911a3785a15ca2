// Two engines that share no decision, held against each other. Where every crossing takes whole
// picoseconds their histories are the same; elsewhere the native engine rounds each crossing up to
// a picosecond and SimGrid rounds nothing, so that they may be a picosecond apart for each crossing
// of the chain that a time depends on.
#pragma once

#include "sim/collective.hpp"
#include "sim/engines/engine.hpp"
#include "sim/iteration.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"
#include "sim/workload.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

/// How far a time may be off where crossings (and computations) are rounded to picoseconds.
class Rounding {
public:
  /// For chunks on this network, as long as its rates don't change.
  Rounding(const Topology& topology, const Collective& collective);
  /// For a workload, whose NPUs compute and communicate.
  Rounding(const Topology& topology, const Workload& workload, const WorkloadPlans& plans);

  /// Everything takes whole picoseconds.
  [[nodiscard]] bool is_none() const { return is_whole_ && whole_times_ == 1; }
  /// Crossings alone may take parts of picoseconds: rates don't change.
  [[nodiscard]] bool is_whole() const { return is_whole_; }
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

/// Whatever two engines say of one run, one by one: what is worst is kept with its name, first
/// whatever exceeds what rounding explains, by how much; else the largest difference. The rounding
/// outlives it.
class HistoryComparison {
public:
  explicit HistoryComparison(const Rounding& rounding) : rounding_(rounding) {}

  /// `name()` says in words what is compared; it is called for what is worst so far.
  template <typename Name> void times(Time one, Time other, const Name& name) {
    take(one, other, rounding_.over(std::max(one, other)), name);
  }
  /// Parts of a run of this length.
  template <typename Name> void parts(Time one, Time other, Time run, const Name& name) {
    take(one, other, rounding_.over(std::max(one, other)) + Rounding::of_clock(run), name);
  }
  /// A sum of `count` times, or of intervals between as many.
  template <typename Name> void sums(Time one, Time other, std::uint64_t count, const Name& name) {
    const Time each = rounding_.over(std::max(one, other));
    take(one, other, Time{each.ps * static_cast<std::int64_t>(std::max<std::uint64_t>(1, count))},
         name);
  }
  /// Whatever isn't a time has to be the same.
  template <typename Name> void same(bool is_same, const Name& name) {
    if (is_same || is_apart_) return;
    is_apart_ = true;
    worst_ = {Time{}, Time{}, name(), false};
  }

  [[nodiscard]] EngineAgreement result() const { return worst_; }

private:
  template <typename Name> void take(Time one, Time other, Time allowed, const Name& name) {
    if (is_apart_) return;
    const Time difference{std::abs(one.ps - other.ps)};
    const auto excess = [](Time off, Time within) {
      return std::max<std::int64_t>(0, off.ps - within.ps);
    };
    const bool is_worse = std::pair(excess(difference, allowed), difference.ps) >
                          std::pair(excess(worst_.largest, worst_.allowed), worst_.largest.ps);
    if (!is_worse && !worst_.what.empty()) return;
    worst_ = {difference, allowed, name(), difference <= allowed};
  }

  const Rounding& rounding_;
  EngineAgreement worst_;
  bool is_apart_ = false; // in more than a time
};

/// The same problem with other times: all of them so many times as long (rates don't change), and
/// each link's latency longer by a random amount of its own, as each chunk is by a thousandth.
struct TimeVariation {
  std::int64_t times = 1;
  Time most_longer = {}; ///< by how much a link's latency grows, at most
  std::uint64_t seed = 0;

  // Errors: InputError where a time or size no longer fits into 64 bits.
  [[nodiscard]] Time of(Time time) const;
  [[nodiscard]] Bytes of(Bytes size) const;
  [[nodiscard]] Topology of(const Topology& topology) const;
  [[nodiscard]] Collective of(Collective collective) const;
  [[nodiscard]] std::vector<Time> of(std::span<const Time> all) const;
  [[nodiscard]] std::vector<NetworkEvent> of(std::span<const NetworkEvent> events) const;
};

/// How engines agree that say this of a run of this length. Where it doesn't hold though not
/// everything takes whole picoseconds, an order may depend on rounding. Then `agree` asks both
/// again: in finer time, so many times as long that every crossing takes whole picoseconds, and
/// where that can't be, 1,000, 100 or 10 times as long, so that rounding is as much less. Where
/// every such run is too long for a clock, or agrees as little (a network that changes has no whole
/// time), it asks of three networks close by, on which such a tie is broken by far more than
/// rounding. Where one of these agrees, nothing is wrong. A run in whole picoseconds that doesn't
/// agree is final. Cost: up to seven calls of `agree`.
[[nodiscard]] EngineAgreement
judged_agreement(EngineAgreement agreement, const Rounding& rounding, Time length,
                 const std::function<bool(const TimeVariation&)>& agree);

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

/// agreement_of(), judged as above. Cost: up to seven runs on both, each with its hops.
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
/// What a reader has to know of an agreement that holds: that an order depends on rounding; or
/// empty.
[[nodiscard]] std::string remark(const EngineAgreement& agreement);

/// On native and on simgrid: the native report, and how far they agree, as judged_agreement() says.
/// Errors: as both.
[[nodiscard]] Report run_both(const Topology& topology, const Collective& collective,
                              const Schedule& schedule, const TimeModel& model,
                              const RunOptions& options = {});

} // namespace tutti
