// Schedules made from schedules. Dependencies go where their transfers go, and what shares a send
// still does.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <span>

namespace tutti {

/// The inverted schedule: order and paths reversed, copies become reductions and the reverse. An
/// All-Gather made on reversed(topology) becomes a Reduce-Scatter on topology, a Broadcast a
/// Reduce, a Scatter a Gather (TACOS sec. IV.H). Pre: no chunk reaches a node twice. A collective
/// without reduction (Scatter -> Gather, All-to-All) keeps its copies: `becomes` says what copies
/// turn into. "i after j" becomes "j after i": exactly for arrivals, and for departures where both
/// cross one link of the same latency; elsewhere departures become arrivals, and what was planned
/// is to be planned anew. Pre: the schedule is one for the topology, or for its reverse; what is
/// waited for ends at nodes that store.
[[nodiscard]] Schedule inverted(const Topology& topology, const Schedule& schedule, Op becomes);

/// First all transfers of `first`, then those of `second`; both speak of the same chunks. A
/// Reduce-Scatter and an All-Gather over the same shards make an All-Reduce.
[[nodiscard]] Schedule concatenated(const Schedule& first, const Schedule& second);

/// Both schedules at once, the transfers of `b` spread evenly among those of `a`; the chunk ids of
/// `b` are shifted by `chunk_shift`. For several collectives on one network.
[[nodiscard]] Schedule interleaved(const Schedule& a, const Schedule& b, std::uint32_t chunk_shift);

/// All of them at once, each spread evenly among the others; the chunk ids of schedules[i] are
/// shifted by chunk_shifts[i] less chunk_shifts[0]. Pre: ascending shifts, at least one schedule.
/// Cost: O(transfers log schedules).
[[nodiscard]] Schedule interleaved(std::span<const Schedule> schedules,
                                   std::span<const std::uint32_t> chunk_shifts);

/// Every chunk cut into `k` subchunks: transfer of chunk c becomes those of c*k .. c*k+k-1, one
/// after another, and each subchunk waits for its own. A send that several transfers share becomes
/// k sends, one after another, each of one subchunk of each. The collective must be made with k
/// times the chunks per shard. Pre: k >= 1.
[[nodiscard]] Schedule split_chunks(const Schedule& schedule, std::uint32_t k);

/// Gives `made`, whose transfers are some of those of `schedule` in the same order, the
/// dependencies of these: `place[i]` is where transfer i of the one is in the other, UINT32_MAX
/// where it was dropped. Who waited for a dropped transfer waits for what that one waited for.
void carry_dependencies(const Schedule& schedule, std::span<const std::uint32_t> place,
                        Schedule& made);

} // namespace tutti
