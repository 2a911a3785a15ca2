// Decides the order on every link by letting each take, whenever it is free, the most urgent of the
// transfers that wait for it.
//
// An engine can't do this: its queues keep the order of entry, and its connections that of the
// list, which are to be decided here. Nor is its recurrence worth sharing: on single hops this one
// takes 0.6 to 0.8 times a replay's time (dispatch_ring_all_gather against native_ring_all_gather,
// 516,096 transfers: 26 and 41 ms, medians of CPU time), and list scheduling runs it for every
// order tried.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/work_limit.hpp"
#include "synth/scheduling/transfer_precedence.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

struct Dispatched {
  std::vector<std::uint32_t> order; ///< the transfers by start
  Time makespan;
  /// Whether an engine's replay of the transfers in this order takes exactly as long.
  bool as_replayed = true;
};

/// Moves time forward by the engines' rules (see sim/engines/fifo_core.hpp) with one freedom: a
/// link that only single hops cross takes the waiting transfer of the least key, ties by list
/// position. Elsewhere a transfer that crosses several links queues by its entry, as in an engine,
/// and the key decides among those that entered at the same instant.
/// `precedence` is that of the schedule, with keys. Pre: model.discipline is fifo.
/// Errors: InputError where a time can't be represented; LimitReached.
/// Cost: O(hops * log of a link's queue). Memory: 28 bytes a transfer, the rest follows what waits.
[[nodiscard]] Dispatched dispatched(const Topology& topology, const Collective& collective,
                                    const Schedule& schedule, const TimeModel& model,
                                    TransferPrecedence precedence, const WorkLimit& limit = {});

} // namespace tutti
