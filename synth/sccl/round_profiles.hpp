// How the rounds of an instance may be spread over its steps.
#pragma once

#include "synth/sccl/problem.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

/// Rounds per step with which every destination could take in each chunk after as many steps as it
/// is away; what is left goes to the first step. Empty where these are more rounds than the
/// instance has. Where every link is busy all the time, the steps' rounds are all but forced to
/// this, and a search that needn't find them is faster by orders of magnitude.
[[nodiscard]] std::vector<std::uint32_t> earliest_rounds(const StepProblem& problem,
                                                         const StepInstance& instance);

} // namespace tutti
