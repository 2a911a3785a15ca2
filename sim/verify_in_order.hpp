// A proof that most schedules are right by, faster than looking for what is wrong.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"
#include "sim/watch.hpp"

namespace tutti {

/// Whether the schedule is proven right, and no copy redundant. False says nothing: verify() then
/// looks at every contribution, and finds the words. Pre: chunk ids in range, paths of this
/// network. Errors: Stopped. Cost: O(transfers + chunks x nodes), 15 to 60 ns a transfer.
[[nodiscard]] bool is_proven_in_order(const Topology& topology, const Collective& collective,
                                      const Schedule& schedule, const Watch& watch);

} // namespace tutti
