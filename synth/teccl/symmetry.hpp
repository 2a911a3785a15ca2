// Automorphisms of an epoch problem.
#pragma once

#include "synth/teccl/problem.hpp"
#include "synth/timed/symmetry.hpp"

#include <cstddef>
#include <vector>

namespace tutti {

/// Nodes go to those of the same abilities, lanes to those of the same delay, limits to those of
/// the same window and number.
[[nodiscard]] ChunkTraffic traffic_of(const EpochProblem& problem);

/// Groups of automorphisms that act freely on lanes and demanded chunks, of a unicast problem on
/// sources and destinations too, the largest first, at most `most`.
[[nodiscard]] std::vector<ChunkSymmetry> free_symmetries(const EpochProblem& problem,
                                                         std::size_t most);

} // namespace tutti
