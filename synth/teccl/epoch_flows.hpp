// Collectives that need no copies (All-to-All, Gather, Scatter) as a linear program (TE-CCL sec.
// 4.1): flows through time, together for all chunks of a holder, then ways for whole chunks.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/solvers/linear_program.hpp"
#include "synth/teccl/epoch_answer.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

/// The fractional optimum.
struct EpochFlows {
  SolverStatus status = SolverStatus::stopped;
  double reward = 0; ///< of the objective: sum of amounts / (k + 1), no integral plan has more
  /// What of a chunk enters a lane in an epoch, after the decomposition into ways; ascending.
  struct Part {
    EpochSend send;
    double amount = 0; ///< in chunks
  };
  std::vector<Part> parts;
  std::uint32_t epochs = 0; ///< that it uses
};

/// Pre: problem.is_unicast(), each chunk one holder.
[[nodiscard]] EpochFlows epoch_flows(const EpochProblem& problem, std::uint32_t epochs,
                                     const WorkLimit& limit);

/// Whole chunks, along ways that the flows take, each send in the first epoch with room: takes at
/// least `flows.epochs`, often a few more.
[[nodiscard]] EpochPlan integral_plan(const EpochProblem& problem, const EpochFlows& flows);

} // namespace tutti
