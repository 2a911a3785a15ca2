// Runs through failures as the page plays them.
#pragma once

#include "experiments/driver/figures/explorer.hpp"
#include "experiments/driver/studies/failures/evaluation.hpp"

#include <span>
#include <vector>

namespace tutti {

/// The undisturbed run of each algorithm, then each policy's in the first scenario, with what
/// happened on the way; of cases that explore. Pre: all are on this topology.
[[nodiscard]] std::vector<ExploredRun> explored_recoveries(std::span<const FailureEvaluation> made,
                                                           const Topology& topology);

} // namespace tutti
