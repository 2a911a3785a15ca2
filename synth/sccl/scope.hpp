// The part of a large network in which a few members' chunks can be within few steps: a process
// group's schedule is sought there, and the rest is one node to its bounds.
#pragma once

#include "synth/sccl/problem.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

/// The problem on some of its nodes.
struct StepScope {
  StepProblem problem;       ///< chunks are the whole problem's, in its order
  std::vector<LaneId> lanes; ///< [lane of `problem`]: the whole's
  std::uint32_t steps = 0;   ///< no schedule of so many steps leaves the scope
};

/// The nodes on paths of at most `steps` from a source of any chunk to a destination of any,
/// with the lanes between them. In a network with over 20,000 lanes, where that helps, fewer: those
/// on paths of as many steps as leave no more lanes, but at least `fewest`.
/// Pre: fewest_steps(problem) <= fewest <= steps.
[[nodiscard]] StepScope scope_within(const StepProblem& problem, std::uint32_t fewest,
                                     std::uint32_t steps);

/// The network with all nodes outside of the scope as one, which stores and passes on whatever it
/// gets; lanes between it and a node are one lane, as wide as they are together. Each schedule of
/// the whole is one of this, so no bound for this is above what the whole can reach. The scope's
/// own problem where that is all there is.
[[nodiscard]] StepProblem contracted(const StepProblem& problem, const StepScope& scope);

} // namespace tutti
