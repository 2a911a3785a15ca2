// From steps to transfers.
#pragma once

#include "sim/schedule.hpp"
#include "sim/topology.hpp"
#include "synth/sccl/problem.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

/// As a list of transfers on the lanes' links, step by step and, within a step, round by round; the
/// chunks are those of the cut collective. Where links are not shared the order within a step means
/// nothing; behind switches it keeps senders from waiting for the same receiver. Cost: sends x
/// rounds of their step x limits of their lanes, and of lanes between the same ends.
[[nodiscard]] Schedule as_schedule(const Topology& topology, const StepProblem& problem,
                                   const StepSchedule& schedule);

struct SendPlace {
  LaneId lane;
  std::uint32_t round = 0;
};

/// In which round of its step each send can leave, and over which of the lanes between its ends,
/// where first those to the next node leave, then those to the one after it, and so on, each in the
/// first round in which all limits of a lane have room, on the lane of the least latency that has;
/// in the last round on the lane that it has where there is none.
[[nodiscard]] std::vector<SendPlace>
places_of_sends(const Topology& topology, const StepProblem& problem, const StepSchedule& schedule);

} // namespace tutti
