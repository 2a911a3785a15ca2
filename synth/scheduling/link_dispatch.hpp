// Decides the order on every link by letting each take, whenever it is free, the most urgent of the
// transfers that wait for it.
//
// An engine can't do this: its queues keep the order of entry, and its connections that of the
// list, which are to be decided here.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/work_limit.hpp"
#include "synth/scheduling/transfer_precedence.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tutti {

/// For a list in which transfers follow each other evenly, as the steps of a fluid schedule do:
/// those that cross several links set out in list order, and transfer i of n not before i/n of
/// `whole`, less `lead`. Else what is ready early fills queues at switches, where more urgent data
/// then waits (rate-controlled service: Zhang and Ferrari 1993, "Rate-controlled static-priority
/// queueing").
struct Pace {
  Time whole, lead;
  [[nodiscard]] std::int64_t due(std::uint32_t i, std::size_t n) const {
    return static_cast<std::int64_t>(static_cast<double>(whole.ps) * i / static_cast<double>(n)) -
           lead.ps;
  }
};

struct Dispatched {
  std::vector<std::uint32_t> order;            ///< the transfers by start
  std::vector<Time> starts, lefts, deliveries; ///< [transfer]
  Time makespan;
  /// Whether an engine's replay that keeps this order takes exactly as long.
  bool as_replayed = true;
};

/// Moves time forward by the engines' rules (see sim/engines/fifo_core.hpp) with one freedom: a
/// sender whose link is free takes any of the transfers that may set out over it, the one of the
/// least key, ties by list position; of those over several links rather one that needn't wait
/// further on. With a pace, keys of these don't count. At further links a transfer queues by its
/// entry, as in an engine.
/// `precedence` is that of the schedule, with keys. Pre: model.discipline is fifo.
/// Errors: InputError where a time can't be represented; LimitReached.
/// Cost: O(hops * log of a link's queue), for transfers over several links times the paths that
/// begin with their first link, of which at most the 64 most urgent are compared. Memory: 52 bytes
/// a transfer, the rest follows what waits.
[[nodiscard]] Dispatched dispatched(const Topology& topology, const Collective& collective,
                                    const Schedule& schedule, const TimeModel& model,
                                    TransferPrecedence precedence,
                                    const std::optional<Pace>& pace = {},
                                    const WorkLimit& limit = {});

} // namespace tutti
