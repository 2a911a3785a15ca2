// Collectives that reduce, as copies backwards: what goes from its holders to who wants it becomes
// what goes from there to all who contributed (TACOS sec. IV.H; SCCL sec. 3.5).
#pragma once

#include "sim/collective.hpp"
#include "sim/topology.hpp"

#include <string>
#include <string_view>

namespace tutti {

[[nodiscard]] bool reduces(const Collective& collective); ///< whether any chunk does

/// Every chunk from where its sum was wanted to all who contributed: of a Reduce the Broadcast, of
/// a Reduce-Scatter the All-Gather, of anything else a custom collective.
[[nodiscard]] Collective turned_around(Collective collective);

/// Every link backwards; who could reduce can copy.
[[nodiscard]] Topology turned_around(const Topology& topology);

/// Why a collective that reduces can't be turned around by `algorithm`, in words; empty where it
/// can, where it is an All-Reduce (made of two), and where nothing reduces.
[[nodiscard]] std::string turning_obstacle(std::string_view algorithm,
                                           const Collective& collective);

} // namespace tutti
