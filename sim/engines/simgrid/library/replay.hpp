// Runs on SimGrid's network, under FIFO and with fluid sharing: in this process, which has
// simulated nothing on SimGrid before.
#pragma once

#include "sim/collective.hpp"
#include "sim/engines/engine.hpp"
#include "sim/iteration.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"

namespace tutti {

/// Replays a schedule that verify() accepts. Times are SimGrid's, rounded to picoseconds at the
/// end: where n/B isn't whole, a crossing takes up to a picosecond less than in serialization().
/// Pre: the options are checked (run_checks.hpp).
/// Errors: InputError for runs that SimGrid's clock can't resolve, and transfers that never happen,
/// unless the run may halt.
/// Cost: 1 to 3 us a crossing; memory of what is under way, 60 bytes a transfer.
[[nodiscard]] Report replay_fifo_on_simgrid(const Topology& topology, const Collective& collective,
                                            const Schedule& schedule, const TimeModel& model,
                                            const RunOptions& options);

/// The fluid discipline (fluid.cpp). Pre: as above, and the options are plain (require_plain()).
/// Errors: InputError where SimGrid's clock is too coarse, and for transfers that never happen.
[[nodiscard]] Report replay_fluid_on_simgrid(const Topology& topology, const Collective& collective,
                                             const Schedule& schedule, const TimeModel& model,
                                             const RunOptions& options);

/// run_iteration_simgrid(), likewise. Pre: the options are checked (check_iteration()).
[[nodiscard]] IterationReport simulate_iteration_on_simgrid(const Topology& topology,
                                                            const Workload& workload,
                                                            const WorkloadPlans& plans,
                                                            const IterationOptions& options);

} // namespace tutti
