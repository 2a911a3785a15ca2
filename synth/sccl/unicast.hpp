// One instance whose chunks each have one destination: whole flows in time, cut into paths.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/sccl/problem.hpp"
#include "synth/sccl/symmetry.hpp"

#include <span>

namespace tutti {

/// Is there a schedule, or, with automorphisms, one whose flows they keep (then only `sat` says
/// something about all schedules)? Chunks of one source flow together, since it doesn't matter
/// which of them a lane carries until they part: one whole flow per source in the time-expanded
/// network. Pre: rounds >= steps >= fewest_steps(problem); problem.is_unicast().
[[nodiscard]] StepAnswer unicast_steps(const StepProblem& problem, const StepInstance& instance,
                                       std::span<const StepAutomorphism> automorphisms,
                                       const StepSearch& search, const WorkLimit& limit);

} // namespace tutti
