// Collectives that reduce as inverted copies: what goes from its sources to a destination becomes
// what goes from there to all who contributed, on the reversed topology (TACOS sec. IV.H; SCCL sec.
// 3.5).
#pragma once

#include "sim/collective.hpp"
#include "sim/topology.hpp"

namespace tutti {

[[nodiscard]] bool reduces(const Collective& collective); ///< whether any chunk does

/// Every chunk from where its sum was wanted to all who contributed: of a Reduce the Broadcast, of
/// a Reduce-Scatter the All-Gather, of anything else a custom collective.
[[nodiscard]] Collective inverted(Collective collective);

/// The reversed topology, in which nodes that reduce can copy.
[[nodiscard]] Topology reversed_with_copies(const Topology& topology);

} // namespace tutti
