// Workloads on SimGrid's clock. Every communication is simulated.

#include "sim/engines/simgrid_clock.hpp"
#include "sim/engines/simgrid_requests.hpp"
#include "sim/engines/simgrid_worker.hpp"
#include "sim/iteration.hpp"
#include "sim/iteration/checks.hpp"
#include "sim/iteration/iteration_run.hpp"
#include "sim/iteration/placed_shapes.hpp"
#include "sim/processes/child_process.hpp"
#include "sim/processes/isolated.hpp"

namespace tutti {

namespace {

template <typename Clock> using UnfoldedRun = IterationRun<Clock, NoFolding>;

} // namespace

IterationReport simulate_iteration_on_simgrid(const Topology& topology, const Workload& workload,
                                              const WorkloadPlans& plans,
                                              const IterationOptions& options) {
  const PlacedShapes shapes(topology, workload, plans, options);
  SimGridClock<UnfoldedRun> clock(topology.link_count());
  UnfoldedRun<SimGridClock<UnfoldedRun>> iteration(topology, workload, plans, shapes, options,
                                                   clock);
  clock.run(iteration);
  return iteration.finish();
}

IterationReport run_iteration_simgrid(const Topology& topology, const Workload& workload,
                                      const WorkloadPlans& plans, const IterationOptions& options) {
  check_iteration(topology, workload, plans, options);
  IterationReport report;
  if (!has_other_threads()) {
    report = run_isolated(
        [&] { return simulate_iteration_on_simgrid(topology, workload, plans, options); },
        exchange_iteration, options.watch);
  } else {
    const std::string bytes = answer_of_simgrid_worker(
        iteration_request(topology, workload, plans, options), options.watch);
    ByteReader(bytes).whole(report, exchange_iteration);
  }
  report.engine = "simgrid";
  return report;
}

} // namespace tutti
