// Programs written by hand, step by step, for tests of what runs programs.
#pragma once

#include "runtime/program.hpp"
#include "sim/topology.hpp"

#include <cstdint>

namespace tutti::runtime {

/// Duplex links between neighbours 0-1-2-..., each the same.
[[nodiscard]] Topology line_network(std::uint32_t npus, Time latency, Bandwidth bandwidth);

/// Around the ring in one block a rank (and one that copies its own part, if not in place).
[[nodiscard]] Program ring_all_gather(std::uint32_t ranks, bool in_place);
/// Reduce-Scatter (rrs, rrcs), then All-Gather (rcs, r) in one block a rank.
[[nodiscard]] Program ring_all_reduce(std::uint32_t ranks, bool in_place);

/// From rank 0 along the line; block 0 of a rank sends what block 1 has received: a dependency.
/// The message is cut into `parts` of the one chunk.
[[nodiscard]] Program chain_broadcast(std::uint32_t ranks, std::uint32_t parts);

} // namespace tutti::runtime
