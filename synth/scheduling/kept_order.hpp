// Dependencies by which a replay keeps to a plan where FIFO queues would let what is ready early
// overtake.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"
#include "sim/work_limit.hpp"

#include <vector>

namespace tutti {

/// When the transfers of a list set out, have left their senders and are delivered, by plan.
struct PlannedTimes {
  std::vector<Time> starts, lefts, deliveries; ///< [transfer]
};

/// Whether queues could change the order of a list at all: some link begins several of its paths.
/// Cost: O(transfers + links of the paths).
[[nodiscard]] bool needs_kept_order(const Topology& topology, const Schedule& schedule);

struct KeptOrder {
  Schedule schedule;
  Time completion;      ///< of its replay by the native engine
  bool is_kept = false; ///< not where queues alone are faster than the order
};

/// The schedule with the dependencies by which transfers set out over each link in list order, and
/// those over several links not earlier than planned by more than `tolerance`. Each names what its
/// own sender has sent or received: the transfer before it on its first link, as one that must have
/// left; and, as a clock, the last one that leaves or arrives there before it is to set out. Few
/// are needed: transfers of one path, and those that come when the one before is in the queue, are
/// in order without. None are set where the schedule is as fast without.
/// Without a plan only the order counts.
/// Those of the schedule don't count. What shares a send sets out as one.
/// Pre: the schedule is correct, nothing in it happens "together"; the plan starts transfers of
/// each link in list order; model.discipline is fifo. Cost: two replays where some link begins
/// several paths, else one; O(transfers * log), 60 bytes a transfer and 40 a hop.
/// Errors: LimitReached in a replay, or where less is left after the first than two of them take.
[[nodiscard]] KeptOrder with_kept_plan(const Topology& topology, const Collective& collective,
                                       Schedule schedule, const TimeModel& model,
                                       const PlannedTimes* plan = nullptr, Time tolerance = {},
                                       const WorkLimit& limit = {});

} // namespace tutti
