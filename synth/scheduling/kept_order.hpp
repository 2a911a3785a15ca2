// Dependencies by which a replay keeps to a plan's order where FIFO queues would let what is ready
// early overtake.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"

namespace tutti {

struct KeptOrder {
  Schedule schedule;
  Time completion; ///< of its replay by the native engine
};

/// The schedule with the dependencies by which transfers set out over each link in list order. Each
/// names the one before it on its first link, as one that must have left, and so only what its own
/// sender has done. Few are needed: transfers of one path, and those that come when the one before
/// is in the queue, are in order without. None are set where the schedule is as fast without.
/// Pre: the schedule is correct and has no dependencies; model.discipline is fifo.
/// Cost: three replays where some link begins several paths, else one; 40 bytes a hop.
[[nodiscard]] KeptOrder with_kept_order(const Topology& topology, const Collective& collective,
                                        Schedule schedule, const TimeModel& model);

} // namespace tutti
