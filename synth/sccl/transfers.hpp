// From steps to transfers.
#pragma once

#include "sim/schedule.hpp"
#include "synth/sccl/problem.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

/// As a list of transfers on the lanes' links, step by step and, within a step, round by round; the
/// chunks are those of the cut collective. Where links are not shared the order within a step means
/// nothing; behind switches it keeps senders from waiting for the same receiver. Cost: sends x
/// rounds of their step x limits of their lanes.
[[nodiscard]] Schedule as_schedule(const StepProblem& problem, const StepSchedule& schedule,
                                   std::uint32_t link_count);

/// In which round of its step each send can leave, where first those to the next node leave, then
/// those to the one after it, and so on, each in the first round in which all its limits have room;
/// the last round where there is none.
[[nodiscard]] std::vector<std::uint32_t> rounds_of_sends(const StepProblem& problem,
                                                         const StepSchedule& schedule);

} // namespace tutti
