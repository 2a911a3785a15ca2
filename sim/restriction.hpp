// A schedule for all NPUs, cut down to a process group among them.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

namespace tutti {

/// What remains of a schedule for all NPUs when only `group` takes part: `whole` and `restricted`
/// are the same kind of collective with the same chunks per shard, over all members and over the
/// group (whose members are among them). Transfers that bring nothing to a member are dropped;
/// relays outside the group stay, and dependencies on what is dropped become those of what it
/// waited for. Chunk ids are those of `restricted`. Errors: InputError where a member of the group
/// isn't in the whole, the kinds, roots or chunks per shard differ, or either isn't one named
/// collective. Cost: O(transfers + chunks * nodes), times members / 64 for chunks that reduce.
[[nodiscard]] Schedule restricted_to_group(const Topology& topology, const Schedule& schedule,
                                           const Collective& whole, const Collective& restricted);

} // namespace tutti
