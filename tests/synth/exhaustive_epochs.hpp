// Plans in epochs by trying everything: what to compare solvers with on tiny problems.
#pragma once

#include "synth/teccl/epoch_problem.hpp"

#include <cstdint>
#include <optional>

namespace tutti::testing {

/// Whether there is a plan in so many epochs; nothing where that would take more than `most_choices`
/// choices. Every send that the rules of epoch_fault() allow is tried, epoch by epoch.
[[nodiscard]] std::optional<bool> plan_exists(const EpochProblem& problem, std::uint32_t epochs,
                                              std::uint64_t most_choices);

} // namespace tutti::testing
