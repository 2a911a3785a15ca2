// From fractional flows to a plan of whole chunks.
#pragma once

#include "synth/teccl/flows/flows.hpp"

namespace tutti {

/// Whole chunks, along paths that the flows take, each send as early as there is room: often in a
/// few epochs more than `flows.epochs`. Some orders and choices of paths are tried, until one takes
/// no more than that or an effort is spent that is the same on every machine. Empty where a chunk
/// can't take any of its paths whole, or buffers are too small. Pre: `flows` is optimal for this
/// problem. Cost: as of a list schedule with some hundred tries for few GPUs; half a minute for an
/// All-to-All of 128.
[[nodiscard]] EpochPlan integral_plan(const EpochProblem& problem, const EpochFlows& flows);

} // namespace tutti
