// Which flows of a collective without copies an optimum may keep alike: the average of a linear
// program's optimum over all symmetries of the problem is an optimum too.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/teccl/problem.hpp"
#include "synth/timed/symmetry.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// What one source sends to one destination.
struct EpochDemand {
  std::uint32_t destination = 0;
  std::vector<std::uint32_t> chunks; ///< ascending, not empty
};

/// All that one node sends.
struct EpochSource {
  std::uint32_t node = 0;
  std::vector<EpochDemand> demands; ///< ascending by destination
};

/// Ascending by node. Chunks without a destination are left out. Pre: each other chunk has one
/// source and one destination.
[[nodiscard]] std::vector<EpochSource> epoch_sources(const EpochProblem& problem);

/// Generators of all automorphisms of the network that keep what nodes send to each other; where
/// all send the same to all, their `chunks` mean nothing. Cost: of a search by bliss.
[[nodiscard]] std::vector<ChunkAutomorphism> epoch_moves(const EpochProblem& problem,
                                                         std::span<const EpochSource> sources);

/// Points that moves exchange have one orbit; it is named by its least point. Pairs of a source
/// (index i) and a lane or a node (index j) are the points i * lanes + j, i * nodes + j.
struct EpochFlowOrbits {
  std::vector<std::uint32_t> of_lane;      ///< [source and lane]
  std::vector<std::uint32_t> of_node;      ///< [source and node]
  std::vector<std::uint32_t> of_node_only; ///< [node]
  std::vector<std::uint32_t> of_limit;     ///< [limit]
};

/// Cost: O(moves * sources * (lanes + nodes)) time, O(sources * (lanes + nodes)) memory. Errors:
/// LimitReached.
[[nodiscard]] EpochFlowOrbits epoch_flow_orbits(const EpochNetwork& network,
                                                std::span<const EpochSource> sources,
                                                std::span<const ChunkAutomorphism> moves,
                                                const WorkLimit& limit = {});

/// Epochs by delays alone, or `unreachable`.
struct FlowReach {
  std::vector<std::uint32_t> from_source;    ///< [node]
  std::vector<std::uint32_t> to_destination; ///< [node]: to the nearest, 0 for a destination
  std::vector<std::uint32_t> onward;         ///< [node]: to the nearest after leaving
};

[[nodiscard]] FlowReach flow_reach(const EpochNetwork& network, const EpochSource& source);

/// What is out of reach stays so.
[[nodiscard]] inline std::uint32_t epochs_plus(std::uint32_t epochs, std::uint32_t more) {
  return epochs == unreachable ? unreachable : epochs + more;
}

} // namespace tutti
