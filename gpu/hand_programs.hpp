// Programs written by hand, step by step: what a machine that has no synthesizer can run. Where
// what is sent takes slots, rings need two of each connection: all send before any receives.
#pragma once

#include "runtime/plans/planned_run.hpp"

#include <cstddef>
#include <cstdint>

namespace tutti::gpu {

/// Around the ring in one block a rank, and one that copies the rank's own part.
[[nodiscard]] runtime::Program ring_all_gather(std::uint32_t ranks);
/// Reduce-Scatter (rrs, rrcs), then All-Gather (rcs, r) in one block a rank. In place: the output
/// is the input.
[[nodiscard]] runtime::Program ring_all_reduce(std::uint32_t ranks, bool in_place);
/// From rank 0 along the line in `parts` messages; block 0 of a rank sends what block 1 has
/// received.
[[nodiscard]] runtime::Program chain_broadcast(std::uint32_t ranks, std::uint32_t parts);
/// Each rank to each other in blocks of their own: ranks * (ranks - 1) * 2 + ranks blocks.
[[nodiscard]] runtime::Program direct_all_to_all(std::uint32_t ranks);
/// One chunk there and back `times` times between ranks 0 and 1, in one block of each; others idle.
/// It ends where it came from.
[[nodiscard]] runtime::Program ping_pong(std::uint32_t ranks, std::uint32_t times);
/// One message from rank 0 to rank 1, in one block of each; others idle.
[[nodiscard]] runtime::Program one_message(std::uint32_t ranks);

/// The program with units of so many bytes, as fast as it goes.
[[nodiscard]] runtime::PlannedRun planned(const runtime::Program& program, std::size_t unit_bytes,
                                          runtime::ElementType type = runtime::ElementType::float32,
                                          runtime::Combine combine = runtime::Combine::sum,
                                          std::uint32_t slots = 4);

/// Throttles each connection to a link of its own.
void emulate_links(runtime::PlannedRun& run, double latency_seconds, double bytes_per_second);

} // namespace tutti::gpu
