// Iterations under start times and links that are drawn at random.
#pragma once

#include "experiments/driver/studies/noise/draws.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/training/evaluation.hpp"
#include "sim/engines/engine.hpp"
#include "sim/iteration.hpp"
#include "sim/topology.hpp"
#include "sim/watch.hpp"
#include "sim/workload.hpp"

#include <string>
#include <vector>

namespace tutti {

/// A run of a workload on one engine. Refers to all of it.
struct IterationCase {
  const Topology& topology;
  const Workload& workload;
  const WorkloadPlans& plans;
  const IterationOptions& options; ///< of the run without noise
  const EngineRow& engine;

  /// Errors: as run_iteration_native().
  [[nodiscard]] IterationReport run() const;
};

/// Its plans and events as they are, for each skew of the request with as many draws as it says:
/// outcomes are added to what came of it without noise, and so is a problem that draws have.
/// SimGrid runs on one thread, whatever `threads` says; the result is the same for any number.
/// Errors: InputError where a draw comes to a halt or leaves what a run can number; Stopped, with
/// the outcomes that are complete.
void add_noisy_iterations(const IterationCase& iteration, const NoiseRequest& request,
                          unsigned threads, const StageWatch& stage, TrainingRun& quiet);

} // namespace tutti
