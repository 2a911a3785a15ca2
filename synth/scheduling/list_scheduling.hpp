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
  /// In order of start, or as it was given; with the dependencies that keep this order
  /// (kept_order.hpp).
  Schedule schedule;
  Time planned;           ///< the makespan by the plan; where there is none, of the replay
  Time makespan;          ///< what the native engine's replay takes under the model
  bool is_queued = false; ///< queues decide the order: they were faster than what was planned
};

struct ListSchedulingOptions {
  /// Classes by chunk, lower ones first whatever their path; empty: all alike.
  std::span<const std::int64_t> chunk_priority = {};
  /// How many orders to try; from 3 on, without classes, the given one is among them. At least 1,
  /// but 0 where `is_even`: that at its pace alone.
  unsigned effort = 3;
  /// Transfers follow each other evenly in the list, as steps of a fluid schedule: it is also tried
  /// at that pace.
  bool is_even = false;
};

/// The same transfers in another order, each chunk's meaning kept; the best of several orders.
/// Dependencies of the given list hold for its own order alone.
/// Pre: the schedule is correct; nothing in it happens "together" or shares a send; transfers that
/// others follow end at nodes that store; model.discipline is fifo. Errors: InputError where a time
/// is out of range; LimitReached where `limit` ends the first order.
/// Cost of each order: O(hops * log of a link's queue), about 1 us a transfer (ten and more
/// where hundreds of paths begin with a link), and up to four replays. Memory: 60 bytes a
/// transfer, 40 a hop.
[[nodiscard]] Timed list_scheduled(const Topology& topology, const Collective& collective,
                                   const Schedule& any_valid_order, const TimeModel& model,
                                   const ListSchedulingOptions& options = {},
                                   const WorkLimit& limit = {});

} // namespace tutti
