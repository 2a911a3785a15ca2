// Relays in software: where a path leads through nodes that can store, each of these takes the data
// in and sends it on, as a transfer of its own.
#pragma once

#include "sim/schedule.hpp"
#include "sim/topology.hpp"

namespace tutti {

/// The schedule with every path cut at its inner nodes that can store. The pieces of a transfer
/// follow each other, and are listed among the others by how many arrivals they come after, so that
/// nobody's own data waits behind a piece that has yet to come in. Names go with their transfers:
/// who waits for a departure waits for that of the first piece, who waits for an arrival for that
/// of the last. What shares a send is passed on in one, too. What a relay holds of other chunks
/// doesn't matter, but it keeps what it passes on.
/// Errors: InputError where a transfer that reduces, or one of a block, leads through such a node:
/// a relay has a contribution of its own, or would break the block.
/// Cost: O(pieces log pieces).
[[nodiscard]] Schedule relayed(const Topology& topology, const Schedule& schedule);

} // namespace tutti
