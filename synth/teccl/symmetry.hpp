// What may be exchanged of an epoch problem without changing it.
#pragma once

#include "synth/teccl/problem.hpp"
#include "synth/timed/symmetry.hpp"

#include <cstddef>
#include <vector>

namespace tutti {

/// Nodes go to those of the same abilities, lanes to those of the same delay, limits to those of
/// the same window and number.
[[nodiscard]] ChunkTraffic traffic_of(const EpochProblem& problem);

/// Groups that let no lane and no wanted chunk in its place, the largest first, at most `most`; of
/// chunks with one destination each, none that holds or wants anything either.
[[nodiscard]] std::vector<ChunkSymmetry> free_symmetries(const EpochProblem& problem,
                                                         std::size_t most);

} // namespace tutti
