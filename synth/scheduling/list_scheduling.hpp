// When each transfer of a known set starts: greedy event-driven list scheduling (Graham 1966,
// "Bounds for certain multiprocessing anomalies"), most urgent first. What is urgent: what has the
// longest path still to go (critical-path priorities; Hu 1961).
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/work_limit.hpp"

#include <cstdint>
#include <span>

namespace tutti {

struct Timed {
  Schedule schedule; ///< in order of start, or as it was given
  Time makespan;     ///< what the native engine's replay takes under the model
};

/// The same transfers in another order, each chunk's meaning kept; the best of several orders.
/// `chunk_priority`: classes by chunk, lower ones first whatever their path; empty: all alike.
/// `effort`: how many orders to try, at least 1; from 3 on, without classes, the given one is among
/// them.
/// Pre: the schedule is correct; nothing in it happens "together"; transfers that others follow end
/// at nodes that store; model.discipline is fifo. Errors: InputError where a time is out of range;
/// LimitReached where `limit` ends the first order.
/// Cost of each order: O(hops * log of a link's queue), about 1 us a transfer. Memory: 60 bytes a
/// transfer.
[[nodiscard]] Timed list_scheduled(const Topology& topology, const Collective& collective,
                                   const Schedule& any_valid_order, const TimeModel& model,
                                   std::span<const std::int64_t> chunk_priority = {},
                                   unsigned effort = 3, const WorkLimit& limit = {});

} // namespace tutti
