// Workloads on Tutti's own event queue.

#include "sim/engines/run_to_end.hpp"
#include "sim/iteration.hpp"
#include "sim/iteration/checks.hpp"
#include "sim/iteration/iteration_run.hpp"
#include "sim/iteration/native_folding.hpp"
#include "sim/iteration/placed_shapes.hpp"
#include "sim/iteration/training_execution.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

namespace {

/// What takes how long is known when it begins.
struct NativeNpus {
  EventQueue& events;
  void start_at(std::uint32_t npu, std::int64_t start) const {
    events.push(0, {start, npu, static_cast<std::uint32_t>(RunEvent::started)});
  }
  void launch_at(std::int64_t now, std::uint32_t communicator, std::int64_t at) const {
    events.push(now, {at, communicator, static_cast<std::uint32_t>(RunEvent::launched)});
  }
  void compute(std::int64_t now, const TrainingExecution::Computation& computation) const {
    events.push(now,
                {computation.end, computation.npu, static_cast<std::uint32_t>(RunEvent::computed)});
  }
};

/// Everything that a run refers to.
struct Parts {
  Parts(const Topology& topology, const Workload& workload, const WorkloadPlans& plans,
        const IterationOptions& options)
      : shapes(topology, workload, plans, options), waiting(waiting_of<Dependencies>(shapes)),
        network(topology,
                PlanInstances<Dependencies>(shapes, waiting, PriorityLevels(workload).count()),
                options.model, network_options(options), events) {}

  static RunOptions network_options(const IterationOptions& options) {
    RunOptions network;
    network.events = options.events;
    network.watch = options.watch;
    return network;
  }

  PlacedShapes shapes;
  std::vector<Dependencies> waiting;
  EventQueue events;
  NativeNetwork network;
  NativeNpus npus{events};
};

template <typename Folding>
IterationReport run(Parts& parts, Folding folding, const Workload& workload,
                    const WorkloadPlans& plans, const IterationOptions& options) {
  IterationRun iteration(workload, plans, parts.shapes, options, parts.network, folding,
                         parts.npus);
  run_to_end(iteration, parts.events, options.watch);
  IterationReport report = iteration.finish();
  report.engine = "native";
  return report;
}

} // namespace

IterationReport run_iteration_native(const Topology& topology, const Workload& workload,
                                     const WorkloadPlans& plans, const IterationOptions& options) {
  check_iteration(topology, workload, plans, options);
  Parts parts(topology, workload, plans, options);
  if (!options.fold) return run(parts, NoFolding(), workload, plans, options);
  return run(parts,
             NativeFolding(parts.shapes, parts.waiting, parts.network, parts.events, options),
             workload, plans, options);
}

} // namespace tutti
