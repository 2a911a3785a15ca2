// Workloads on Tutti's own event queue.

#include "sim/engines/native_clock.hpp"
#include "sim/iteration.hpp"
#include "sim/iteration/checks.hpp"
#include "sim/iteration/iteration_run.hpp"
#include "sim/iteration/native_folding.hpp"
#include "sim/iteration/placed_shapes.hpp"

namespace tutti {

namespace {

template <template <typename> typename Folding>
IterationReport run(const Topology& topology, const Workload& workload, const WorkloadPlans& plans,
                    const IterationOptions& options) {
  const PlacedShapes shapes(topology, workload, plans, options);
  NativeClock clock;
  IterationRun<NativeClock, Folding> iteration(topology, workload, plans, shapes, options, clock);
  run_to_end(iteration, clock.events, options.watch);
  IterationReport report = iteration.finish();
  report.engine = "native";
  return report;
}

} // namespace

IterationReport run_iteration_native(const Topology& topology, const Workload& workload,
                                     const WorkloadPlans& plans, const IterationOptions& options) {
  check_iteration(topology, workload, plans, options);
  return options.fold ? run<NativeFolding>(topology, workload, plans, options)
                      : run<NoFolding>(topology, workload, plans, options);
}

} // namespace tutti
