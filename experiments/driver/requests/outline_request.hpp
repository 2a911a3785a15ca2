// What a user asks bounds of.
#pragma once

#include "experiments/driver/requests/collective_request.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/outline.hpp"

#include <cstdint>

namespace tutti {

/// The outline of make_collective(topology, request, chunks_per_shard), also where that has more
/// chunks than are listed, for a single collective by name. Errors: as there.
[[nodiscard]] bounds::Outline make_outline(const Topology& topology,
                                           const CollectiveRequest& request,
                                           std::uint32_t chunks_per_shard);

/// The chunks of all parts, whether listed or not.
[[nodiscard]] std::uint64_t chunk_count(const Collective& collective);

} // namespace tutti
