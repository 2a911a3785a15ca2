// The checker of plans in epochs.
#pragma once

#include "synth/teccl/problem.hpp"

#include <string>

namespace tutti {

/// What is wrong with a plan, in words with numbers; empty where all is well. Shares no code with
/// what makes plans. The rules: ascending; chunks and lanes that exist; a node that stores sends
/// what it held at the start or what arrived by then; one that doesn't passes on in epoch k what
/// arrives for epoch k, once for each arrival unless it copies (it may drop it); nobody who stores
/// receives a chunk twice, or one that it held at the start; limits; the buffer limit; each
/// destination has its chunks in the end.
/// Cost: O(sends * log(sends) * uses of limits by a lane + chunks * nodes).
[[nodiscard]] std::string epoch_fault(const EpochProblem& problem, const EpochPlan& plan);

} // namespace tutti
