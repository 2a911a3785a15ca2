// FIFO as docs/model.md specifies it, decided by other code than the native engine's, on SimGrid's
// network: two engines with precedence, queues and durations of their own can check each other. In
// common they have the state of a network after its events (NetworkState), how long a reduction
// takes, and words.
#pragma once

#include "sim/collective.hpp"
#include "sim/engines/engine.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"

namespace tutti {

/// Replays a schedule that verify() accepts, in this process, which has simulated nothing on
/// SimGrid before. Times are SimGrid's, rounded to picoseconds at the end: where n/B isn't whole, a
/// crossing takes up to a picosecond less than in serialization().
/// Errors: InputError for transfers that never happen, unless the run may halt.
/// Cost: 1 to 3 us a crossing; memory of what is under way, 60 bytes a transfer.
/// Pre: the options are checked (Changes, LateStarts).
[[nodiscard]] Report replay_fifo_on_simgrid(const Topology& topology, const Collective& collective,
                                            const Schedule& schedule, const TimeModel& model,
                                            const RunOptions& options);

} // namespace tutti
