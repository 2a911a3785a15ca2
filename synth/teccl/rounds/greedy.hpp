// Plans by the epoch, most urgent chunk first: what a round starts from, and a plan of its own
// where programs are too large.
#pragma once

#include "synth/teccl/problem.hpp"
#include "synth/teccl/rounds/switch_paths.hpp"

#include <span>
#include <vector>

namespace tutti {

/// What follows on `past`: sends of `begin` .. `end` - 1, ascending, until all demands are met or
/// nothing is of use any more. Epoch by epoch: of all chunks that could start for a node that
/// stores, the one that brings the most closeness to its unserved destinations goes first; of its
/// paths the earliest, then the one with the fewest new sends (copies by switches need none).
/// Deterministic, ties by ids. `paths` are switch_paths() of the problem's network.
/// Cost: O(epochs * (chunks * nodes * nodes + candidates * paths to a node)).
[[nodiscard]] EpochPlan greedy_plan(const EpochProblem& problem, const EpochDistances& distances,
                                    std::span<const std::vector<SwitchPath>> paths,
                                    std::span<const EpochSend> past, Epoch begin, Epoch end);

} // namespace tutti
