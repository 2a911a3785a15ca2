// Workloads on SimGrid's clock. Every communication is simulated.

#include "sim/engines/simgrid_clock.hpp"
#include "sim/iteration.hpp"
#include "sim/iteration/checks.hpp"
#include "sim/iteration/iteration_run.hpp"
#include "sim/iteration/placed_shapes.hpp"
#include "sim/processes/isolated.hpp"

namespace tutti {

namespace {

constexpr auto exchange_iteration = [](auto& stream, auto& report) {
  stream.value(report.model);
  stream.value(report.duration);
  stream.vector(report.accounts);
  stream.vector(report.communication);
  stream.vector(report.links);
  stream.vector(report.spans);
  stream.value(report.operations);
  stream.value(report.communications);
  stream.value(report.link_transfers);
  stream.value(report.replayed);
};

template <typename Clock> using UnfoldedRun = IterationRun<Clock, NoFolding>;

IterationReport run(const Topology& topology, const Workload& workload, const WorkloadPlans& plans,
                    const IterationOptions& options) {
  const PlacedShapes shapes(topology, workload, plans, options);
  SimGridClock<UnfoldedRun> clock(topology.link_count());
  UnfoldedRun<SimGridClock<UnfoldedRun>> iteration(topology, workload, plans, shapes, options,
                                                   clock);
  clock.run(iteration);
  return iteration.finish();
}

} // namespace

IterationReport run_iteration_simgrid(const Topology& topology, const Workload& workload,
                                      const WorkloadPlans& plans, const IterationOptions& options) {
  check_iteration(topology, workload, plans, options);
  IterationReport report = run_isolated([&] { return run(topology, workload, plans, options); },
                                        exchange_iteration, options.watch);
  report.engine = "simgrid";
  return report;
}

} // namespace tutti
