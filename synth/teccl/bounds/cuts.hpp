// Sets of nodes that little can get into at once: what all that is wanted there has to pass.
#pragma once

#include "synth/teccl/problem.hpp"

#include <vector>

namespace tutti {

/// [node]: whether it is of the set. Each node alone, all but each node, and the narrowest cuts
/// between the first node and each other, in both directions; each once. Lanes count with the
/// narrowest of their limits. Cost: twice as many maximum flows as nodes; where the problem's limit
/// is reached, those that were found by then.
[[nodiscard]] std::vector<std::vector<bool>> narrow_cuts(const EpochProblem& problem);

} // namespace tutti
