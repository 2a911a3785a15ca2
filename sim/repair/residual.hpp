// What is left of a collective that was given up on the way: its present state as a precondition,
// what those alive still want as the postcondition.
#pragma once

#include "sim/collective.hpp"
#include "sim/network_event.hpp"
#include "sim/repair/segment.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// A chunk and an NPU: a contribution that is lost, a value that is missing.
struct ChunkAt {
  ChunkId chunk;
  NodeId npu;
  auto operator<=>(const ChunkAt&) const = default;
};

struct Residual {
  /// One custom part; without chunks where nothing is left to do, or to be done. Chunks that all
  /// who want them have are left out, unless they have them only by going back to their inputs.
  Collective collective;
  std::vector<ChunkId> chunk; ///< [chunk of `collective`]: the same in the whole collective
  /// [chunk of `collective`]: whether its holders' values are their own inputs again, and not what
  /// was made of them on the way.
  std::vector<bool> from_inputs;
  /// Contributions (of chunks that reduce) and data (of others: by the NPU that held it at first)
  /// that nobody alive holds. A chunk is complete without lost contributions; lost data is wanted
  /// by nobody any more.
  std::vector<ChunkAt> lost;
  /// What NPUs that are alive want and can't get, because the network is cut between them and what
  /// they need. Not in `collective`.
  std::vector<ChunkAt> out_of_reach;
};

/// The state after the delivered transfers of all segments, and what is left to do on the present
/// network.
///
/// Values: a chunk that is copied counts wherever it is and its NPU alive. Of a chunk that reduces,
/// NPUs hold partial sums that overlap (who has sent its sum on still has it); chosen are values
/// that are disjoint and together hold every contribution that survives: the largest first, then,
/// where that leaves gaps, by search. Where some NPU alive has it complete, the chunk is copied
/// from all such from here on. Where no choice covers all, each NPU goes back to its own
/// input for this chunk (Residual::from_inputs), and what it had is dropped.
/// Switches and memories hold nothing: what lay there is sent again by those who have it.
/// With `anew` everything starts from the NPUs' own inputs, except what the dead had.
///
/// Pre: segments.front() is the whole collective's. Cost: O(transfers + chunks * nodes), times
/// contributors / 64 for chunks that reduce; memory: 8 bytes a transfer and one chunk's state.
[[nodiscard]] Residual residual(const Topology& topology, std::span<const Segment> segments,
                                const NetworkState& network, bool anew);

} // namespace tutti
