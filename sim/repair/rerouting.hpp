// Policy::reroute: which paths are replaced by which, and when.
#pragma once

#include "sim/engines/engine.hpp"
#include "sim/repair/recovery.hpp"
#include "sim/repair/running_plan.hpp"
#include "sim/schedule.hpp"

#include <vector>

namespace tutti {

struct Rerouting {
  std::vector<RouteChange> changes; ///< by time
  std::vector<Decision> decisions;  ///< one for each change
};

/// At each answer to events, a path that the schedule uses, and that has a link down as far as is
/// known, is replaced by the shortest path that is left (least latency plus serialization of the
/// largest chunk; ties by link ids); one that is whole again, by itself. What is on the way over a
/// route that was given up, and breaks, takes the present one. Paths whose ends are cut apart stay
/// as they are. Adds paths to the schedule.
[[nodiscard]] Rerouting rerouted(const RecoveryCase& asked, Schedule& schedule);

} // namespace tutti
