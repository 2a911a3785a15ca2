// From a study of training to the figures of its iterations: workloads are made, all communication
// is planned and verified, iterations run on one or several engines, which must say the same, and
// everything is held against what can't be.
#pragma once

#include "experiments/driver/figures/explorer.hpp"
#include "experiments/driver/studies/noise/draws.hpp"
#include "experiments/driver/studies/refusals.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/training/study.hpp"
#include "sim/iteration.hpp"
#include "sim/report.hpp"
#include "sim/topology.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// One run: a workload on a network, its collectives by a plan, under a condition.
struct TrainingRun {
  std::string topology, variant, plan;
  std::string transport = "ideal";
  Condition condition;
  std::uint32_t npus = 0;
  WorkloadSummary workload;
  Status status = Status::unsupported; ///< where there is no report
  /// Why there is no report, or no draws; who starts late.
  std::string note;
  std::vector<std::string> failed; ///< cables that are out of order, by name
  std::optional<IterationReport> report;
  std::vector<PlannedCommunication> communications; ///< largest first; empty where taken over
  Time bound; ///< that no run of the workload by this plan can beat, with these starts
  std::vector<NoiseOutcome> noises; ///< a row each; empty where nothing is drawn
  /// What 90 % of measured times are within, were computing as fast as its profile says; where the
  /// transport knows that.
  std::optional<Interval> interval;
  std::string hottest;                          ///< link, as hottest_link()
  double planning_seconds = 0, run_seconds = 0; ///< CPU; of all engines
  /// A defect of Tutti in words: accounts that don't add up, a time below its bound, engines that
  /// disagree, what plan_workload() says; empty where all is well.
  std::string problem;
  std::string remark; ///< on how engines agree (agreement.hpp); mostly empty

  // Where there is a report:
  [[nodiscard]] Time iteration_time() const; ///< rounded down to a picosecond
  /// 0: unknown.
  [[nodiscard]] double items_per_second() const;
  [[nodiscard]] double flops_utilisation() const; ///< of all NPUs' peak, 0 .. 1
};

/// "ring", "ring, nccl": with its transport only where links aren't ideal.
[[nodiscard]] std::string name_of_plan(const TrainingRun& run);

/// What those who wait see of training: a line before each run and after it.
///   tutti: ResNet-50: RFS, tacos, undisturbed: begins
///   tutti: ResNet-50: RFS, tacos, undisturbed: 12.34 ms per iteration
/// `label` stands before each; `out` must outlive it.
[[nodiscard]] std::function<void(const TrainingRun&, bool)> run_announcer(std::string label,
                                                                          std::ostream& out);
/// The same on stderr where that is a terminal or lines are wanted; else it says nothing.
[[nodiscard]] std::function<void(const TrainingRun&, bool)> run_announcer(std::string label,
                                                                          bool lines_wanted);

struct TrainingEvaluation {
  std::string label;
  std::vector<std::string> engines;
  TimeModel model;
  bool one_at_a_time = false;          ///< communication of an NPU
  std::vector<std::string> transports; ///< that were asked for: "ideal", "nccl"
  std::string reference;               ///< of TrainingStudy
  std::vector<TrainingRun> runs;       ///< by topology, variant, plan, condition
};

/// What is wanted beside figures.
struct TrainingWatcher {
  /// Called before each run is planned, and after each.
  std::function<void(const TrainingRun&, bool is_over)> progress = {};
  /// NPUs whose operations are recorded, in every run of the workload; ascending.
  std::function<std::vector<NodeId>(const Workload&)> recorded = {};
  /// Called with each workload that is made.
  std::function<void(const Topology&, const Workload&)> made = {};
};

/// Has a timeline of each run added, for a page: of the NPUs that are recorded, else of those of a
/// trace and of stragglers. `study` and `into` must outlive the watcher.
void watch_timelines(TrainingWatcher& watcher, const TrainingStudy& study,
                     std::vector<ExploredTimeline>& into);

/// How much of a run stands in JSON.
enum class NpuDetail : std::uint8_t {
  none, ///< sums over NPUs
  all,  ///< and the account of each NPU, and the use of each link in the order of LinkId
};
[[nodiscard]] StudyResult result_of(TrainingEvaluation evaluation,
                                    std::vector<TrainingNetwork> networks, NpuDetail detail);

/// Errors: InputError for what has no meaning on lanes: links that are busy for their latency,
/// which under a transport is the runtime's, draws, one communication at a time, and events other
/// than links that go down or up.
void require_transport(const TrainingStudy& study);

/// Undisturbed first (but for starts that are given), then with stragglers and events, then by
/// number of failed cables, seed and policy. Where `cancelled` of the planning's options holds,
/// runs that are left are not begun. What an algorithm can't plan, runs that come to a halt or run
/// out of memory, and events that the network refuses while others go well are notes.
/// Errors: InputError for a workload that can't be made, and of the first plan where all meet bad
/// input.
[[nodiscard]] TrainingEvaluation evaluate_training(const TrainingStudy& study,
                                                   std::span<const TrainingNetwork> networks,
                                                   const TrainingWatcher& watcher = {});
/// The same as one study of several: what its plans refuse is counted, and no error.
[[nodiscard]] TrainingEvaluation evaluate_training(const TrainingStudy& study,
                                                   std::span<const TrainingNetwork> networks,
                                                   const TrainingWatcher& watcher,
                                                   Refusals& refusals);

/// A row that there will be, where all goes well. Refers to the study and its networks.
struct PlannedTraining {
  const TrainingNetwork& network;
  const TrainingVariant& variant;
  const TrainingPlan& plan;
  Condition condition;
  const SkewRequest& skew;
};
/// By topology, variant, plan, condition, skew.
[[nodiscard]] std::vector<PlannedTraining> planned_rows(const TrainingStudy& study,
                                                        std::span<const TrainingNetwork> networks);

[[nodiscard]] std::vector<NodeId> all_npus(const Topology& topology);
/// As parse_starts(), of a network's NPUs. Errors: InputError as there.
[[nodiscard]] std::vector<Time> starts_on(const Topology& topology,
                                          std::span<const std::string> texts);

/// Errors: InputError for a skew times a bound where some condition takes plans over, of whose
/// communication no bound is known.
void require_bounds(const TrainingStudy& study, std::size_t networks);

/// Checks what needs no planning: makes every workload. Errors: InputError naming the variant.
void require_sound(const TrainingStudy& study, std::span<const TrainingNetwork> networks);

/// What is wrong with each run, in words; empty where all is well.
[[nodiscard]] std::vector<std::string> problems_of(const TrainingEvaluation& evaluation);
/// Why nothing ran; empty where something did.
[[nodiscard]] std::vector<std::string> nothing_made(const TrainingEvaluation& evaluation);
/// Whether some run has a report.
[[nodiscard]] bool has_report(const TrainingEvaluation& evaluation);

} // namespace tutti
