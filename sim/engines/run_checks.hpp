// What must hold of a run's options before any engine begins it.
#pragma once

#include "sim/collective.hpp"
#include "sim/engines/engine.hpp"
#include "sim/network_event.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <span>
#include <string_view>

namespace tutti {

/// Errors: InputError for jobs that aren't one per part, a priority or start out of range, starts
/// that aren't one per node, are below 0, or above 0 at a node that can't store, a route between
/// other ends or over paths that the schedule doesn't know, options that aren't sorted by time.
void check_run(const Topology& topology, const Collective& collective, const Schedule& schedule,
               const RunOptions& options);
/// Errors: InputError where they aren't in the order of their times, or before time 0.
void check_events(std::span<const NetworkEvent> events);
/// Errors: InputError where options other than recording and starts are given.
void require_plain(const RunOptions& options, std::string_view who);

} // namespace tutti
