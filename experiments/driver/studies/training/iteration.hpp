// An iteration on an engine: what must hold of its report, whatever was planned, and what start
// times and links that are drawn at random make of it.
#pragma once

#include "experiments/driver/studies/noise/draws.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/training/evaluation.hpp"
#include "sim/engines/engine.hpp"
#include "sim/iteration.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"
#include "sim/watch.hpp"
#include "sim/workload.hpp"
#include "workloads/planning/planning.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What is wrong with a report by itself, in words; else empty.
[[nodiscard]] std::string account_problem(const IterationReport& report);

/// What no iteration of a workload can beat by these plans: what each NPU computes once it is
/// there, the last start, and any plan's bound.
class IterationBound {
public:
  IterationBound(const Workload& workload, std::span<const PlannedCommunication> communications);
  /// `starts`: per node, or empty.
  [[nodiscard]] Time time(std::span<const Time> starts = {}) const;

private:
  std::vector<Time> computing_; // per NPU
  Time communicating_;          // the most of any plan
};

/// A workload on one engine. Refers to all of it.
struct IterationCase {
  const Topology& topology;
  const Workload& workload;
  const WorkloadPlans& plans;
  const IterationOptions& options; ///< of the run without noise
  const EngineRow& engine;

  /// Errors: as run_iteration_native().
  [[nodiscard]] IterationReport run() const;
  /// Whether the report is below the bound by more than what the engine rounds.
  [[nodiscard]] bool is_below(Time bound, const IterationReport& report) const;
};

/// Its plans and events as they are, for each skew of the request with as many draws as it says:
/// outcomes are added to what came of it without noise, and so is a problem that draws have.
/// SimGrid runs on one thread, whatever `threads` says; the result is the same for any number.
/// Errors: InputError where a draw comes to a halt or leaves what a run can number; Stopped, with
/// the outcomes that are complete.
void add_noisy_iterations(const IterationCase& iteration, const NoiseRequest& request,
                          unsigned threads, const StageWatch& stage, TrainingRun& quiet);

} // namespace tutti
