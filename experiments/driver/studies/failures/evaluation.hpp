// A collective through failures: undisturbed first, then under every policy, on one or several
// engines, which must say the same. The schedule is verified before anything else.
#pragma once

#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/event_plan.hpp"
#include "experiments/driver/studies/noise/draws.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "sim/engines/engine.hpp"
#include "sim/repair/recovery.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// One algorithm and the events during its run.
struct FailureCase {
  std::string label;                  ///< of an experiment; may be empty
  std::string topology_label;         ///< stands in reports
  const Topology* topology = nullptr; ///< not owned; outlives the case
  CollectiveRequest collective;
  std::optional<std::uint32_t> chunks = 1; ///< per shard, times chunk_multiple; none: auto
  AlgorithmRow algorithm;
  AlgorithmRow planner; ///< plans the rest, or all anew
  SynthesisOptions options;
  /// What a runtime makes of the links, which stay as the undisturbed run finds them; null: ideal.
  std::shared_ptr<const Transport> transport = nullptr;
  Time launch = {};                      ///< of the transport, before anybody starts
  std::vector<const EngineRow*> engines; ///< at least one; all must say the same
  std::vector<Policy> policies;          ///< at least one, each once
  Time detection{100'000'000}, decision{50'000'000};
  EventPlan events;
  /// Who starts late, in all runs; and what is drawn, for each scenario and policy.
  NoiseRequest noise = {};
  bool explores = false;     ///< runs of the first scenario are kept for a page
  unsigned draw_threads = 1; ///< over which draws are spread, with the same result
};

/// Plans what another planner isn't made for.
inline constexpr std::string_view fallback_planner = "tacos";

/// The algorithm itself where it plans custom collectives, else fallback_planner.
[[nodiscard]] AlgorithmRow default_planner(const AlgorithmRow& algorithm);

/// Checks what needs no synthesis: that the topology holds the collective, that the planner plans
/// custom collectives, that as many links can fail as should, and that those who start late are
/// members. Errors: InputError.
void require_sound(const FailureCase& c);

struct PolicyEvaluation {
  /// What is too large to keep is left out (`segments`, `deliveries` and `hops`, but where the case
  /// explores; `links`), `progress` is thinned out.
  Recovery recovery;
  std::vector<std::string> stuck;   ///< in words, by link
  std::vector<std::string> missing; ///< in words, by NPU
  std::size_t missing_npus = 0;
  double planning_seconds = 0;           ///< CPU, of all decisions
  std::vector<NoiseOutcome> noises = {}; ///< of each skew; empty where nothing is drawn

  [[nodiscard]] std::size_t decisions_in_force() const;
  [[nodiscard]] std::size_t handed_over() const; ///< decisions that fallback_planner planned
};

struct ScenarioEvaluation {
  Scenario scenario;
  std::vector<NetworkEvent> events;       ///< by time
  std::vector<std::string> event_texts;   ///< of `events`
  std::vector<std::string> cuts;          ///< network_cuts() of `events`
  std::vector<PolicyEvaluation> policies; ///< of FailureCase::policies
};

struct FailureEvaluation {
  std::string label, topology, collective, algorithm, planner;
  std::uint32_t npus = 0;
  Bytes size;
  std::uint32_t chunks_per_shard = 1;
  bool chose_chunks = false; ///< nobody said how many
  std::vector<std::string> engines;
  TimeModel model;
  Time detection, decision;
  std::vector<Policy> policies;
  Status status = Status::infeasible;
  std::string note;   ///< why there is no schedule, or what was cut short; else who starts late
  std::string remark; ///< on how engines agree (agreement.hpp); mostly empty
  bool verified = false;
  Replay undisturbed;                  ///< where verified
  std::vector<ProgressPoint> progress; ///< undisturbed
  Bytes wanted;                        ///< what `progress` reaches
  std::vector<ScenarioEvaluation> scenarios;
  std::optional<Recovery> explored; ///< the undisturbed run, where the case explores
  double seconds = 0;               ///< CPU, of everything
  /// A defect of Tutti in words (a fault, a time below its bound, engines that disagree, what
  /// recover() says, in a draw, too); empty where all is well.
  std::string problem;

  /// A time over that of the undisturbed run; none where that took none.
  [[nodiscard]] std::optional<double> over_undisturbed(Time time) const;
  /// The policy's; none where the policy leaves something out.
  [[nodiscard]] std::optional<double> slowdown(const PolicyEvaluation& policy) const;
  /// Who planned so many decisions, of which so many were handed over: the planner,
  /// fallback_planner, or both ("sccl+tacos").
  [[nodiscard]] std::string planner_of(std::size_t decisions, std::size_t handed_over) const;
  /// Part of the goodput that the failures cost: 1 - undisturbed / time; all of it where something
  /// is left out.
  [[nodiscard]] double goodput_lost(const PolicyEvaluation& policy) const;
};

/// What recovers: recover(), but for tests.
using RecoverFunction =
    std::function<Recovery(const EngineRow&, const Topology&, const Collective&, const Schedule&,
                           const TimeModel&, std::span<const NetworkEvent>, const Reaction&)>;

/// What it is asked of the case, without watch, bound and starts. Plans are made by the case's
/// planner, or by fallback_planner where that is unsupported, as `planning` says, which must
/// outlive it.
[[nodiscard]] Reaction reaction_of(const FailureCase& c, Policy policy,
                                   const SynthesisOptions& planning);

/// Called after each scenario and policy.
using PolicyFinished = std::function<void(const ScenarioEvaluation&, const PolicyEvaluation&)>;

/// What runs out of memory or is cancelled is timed out. Between policies the case's `cancelled` is
/// asked: the scenarios that are left are not begun. Draws come last; the first engine alone makes
/// them, and policies whose draws were not all made have none.
/// Errors: InputError for bad input: that of require_sound(), events that contradict each other,
/// an event at an instant after everything has ended under every policy, start times out of range.
[[nodiscard]] FailureEvaluation evaluate_failures(const FailureCase& c,
                                                  const PolicyFinished& finished = {},
                                                  const RecoverFunction& function = recover);

/// The same of a case that isn't evaluated, with the reason.
[[nodiscard]] FailureEvaluation without_failures(const FailureCase& c, Status status,
                                                 const std::string& note);

/// One point of a sweep under one policy: the medians over its scenarios (of an even number the
/// earlier of the two in the middle), those that aren't complete counting as the latest.
struct PolicySummary {
  std::optional<std::size_t> failed_links;
  Policy policy = Policy::report;
  std::size_t runs = 0, complete = 0;
  std::optional<Ending> only; ///< where there is but one run: its ending
  std::optional<Time> time;   ///< none where the one in the middle isn't complete
  double goodput_lost = 0;
  Bytes in_vain;
  std::size_t decisions = 0, in_force = 0; ///< of all runs
  std::size_t handed_over = 0;             ///< decisions of all runs that the fallback planned
  double planning_seconds = 0;             ///< CPU, of all runs
  std::size_t missing_npus = 0;            ///< the most of any run
};

/// By number of failed links, then by policy, as in the case.
[[nodiscard]] std::vector<PolicySummary> summaries_of(const FailureEvaluation& evaluation);

} // namespace tutti
