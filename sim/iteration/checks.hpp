// What a run of a workload needs to be true before it begins.
#pragma once

#include "sim/iteration.hpp"
#include "sim/topology.hpp"
#include "sim/workload.hpp"

namespace tutti {

/// Errors: InputError as run_iteration_native() says, but for plans and halts.
void check_iteration(const Topology& topology, const Workload& workload, const WorkloadPlans& plans,
                     const IterationOptions& options);

} // namespace tutti
