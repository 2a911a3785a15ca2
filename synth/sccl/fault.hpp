// Is this a valid k-synchronous schedule (Cai et al. 2021, "Synthesizing Optimal Collective
// Algorithms", sec. 3.3)? The checker shares no code with what makes schedules.
#pragma once

#include "synth/sccl/problem.hpp"

#include <string>

namespace tutti {

/// What is wrong with a schedule, in words with numbers; empty where all is well. Steps count from
/// 0, nodes are named by their NodeId.
/// The rules: S steps of at least one round each, R rounds in all; sends in the order that
/// StepSchedule says, of chunks, lanes and steps that exist; the sender holds the chunk before the
/// step; nobody receives a chunk twice or one that it holds from the start; the sends over a
/// limit's lanes in a step of r rounds are at most per_round * r; every destination holds its
/// chunks in the end. That a chunk arrives at most once isn't a rule of sec. 3.3 but C3 of sec.
/// 3.4, and what inversion to reducing collectives relies on. Cost: O(sends * limits of a lane +
/// chunks * nodes + steps + lanes of all limits).
[[nodiscard]] std::string step_fault(const StepProblem& problem, const StepInstance& instance,
                                     const StepSchedule& schedule);

} // namespace tutti
