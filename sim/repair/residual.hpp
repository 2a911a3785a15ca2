// What is left of a collective whose plan was given up: its present state as a precondition,
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

struct Residual {
  /// One custom part; without chunks where nothing is left to do, or to be done. Chunks that all
  /// who want them have are left out, unless they have them only by going back to their inputs, by
  /// taking in what waits at them, or by giving up contributions that others hold.
  Collective collective;
  std::vector<ChunkId> chunk;    ///< [chunk of `collective`]: the same in the whole collective
  Starts starts;                 ///< of the sources in `collective`
  std::vector<Arrival> takes_in; ///< by the sources in `collective`; ascending
  /// Contributions (of chunks that reduce) and data (of others: by the NPU that held it at first)
  /// that are given up: nobody alive holds them, or a plan for this residual goes without them. A
  /// chunk is complete without lost contributions; lost data is wanted by nobody any more.
  std::vector<ChunkAt> lost;
  /// What NPUs that are alive want and can't get, because the network is cut between them and what
  /// they need. Not in `collective`.
  std::vector<ChunkAt> out_of_reach;
};

/// The state after the delivered transfers of all segments, and what is left to do on the present
/// network.
///
/// Values: a chunk that is copied counts wherever it is and its NPU alive. For a chunk that
/// reduces, each NPU has its own input, what lies in its memory, be that of an earlier plan, and
/// each value that has come to it and waits; these overlap (who has sent its sum on still has it).
/// Chosen are values that are disjoint and together hold every contribution that survives
/// (disjoint_cover(); first those of one NPU that can be added up there); as inputs are among them,
/// contributions of the living are never left out, and those of the dead only where the sums that
/// have them can't be added up. What was given up before (`given_up`, in order) stays so. Where
/// some NPU alive has the chunk complete, it is copied from all such from here on.
/// Switches and memories hold nothing: what lay there is sent again by those who have it.
/// With `anew` everything starts from the NPUs' own inputs, except what the dead had.
///
/// Pre: segments.front() is the whole collective's. Cost: O(transfers + chunks * nodes), times
/// contributors / 64 for chunks that reduce; memory: 8 bytes a transfer and one chunk's state.
[[nodiscard]] Residual residual(const Topology& topology, std::span<const Segment> segments,
                                const NetworkState& network, bool anew,
                                std::span<const ChunkAt> given_up = {});

/// Contributions and data that nobody alive holds after all segments. Cost: as above.
[[nodiscard]] std::vector<ChunkAt> held_by_nobody(const Topology& topology,
                                                  std::span<const Segment> segments,
                                                  const NetworkState& network);

} // namespace tutti
