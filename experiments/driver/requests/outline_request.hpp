// What a user asks bounds of.
#pragma once

#include "experiments/driver/requests/collective_request.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/outline.hpp"

#include <cstdint>

namespace tutti {

/// Of make_collective(topology, request, chunks_per_shard), which a single collective by name may
/// be too large to list for. Errors: as there.
[[nodiscard]] bounds::Outline make_outline(const Topology& topology,
                                           const CollectiveRequest& request,
                                           std::uint32_t chunks_per_shard);

/// Of all parts, whether listed or not.
[[nodiscard]] std::uint64_t chunk_count(const Collective& collective);

} // namespace tutti
