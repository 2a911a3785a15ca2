// Collectives that need no copies (All-to-All, Gather, Scatter) as a linear program (TE-CCL sec.
// 4.1): flows through time, together for all chunks of a source, then paths for whole chunks.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/solvers/linear_program.hpp"
#include "synth/teccl/answer.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tutti {

/// The fractional optimum.
struct EpochFlows {
  SolverStatus status = SolverStatus::stopped;
  /// The objective: for each chunk the sum of 1 / (k + 1) over the epochs k at whose end it is
  /// there, parts of it in proportion. No integral plan has more.
  double reward = 0;
  /// What of a chunk enters a lane in an epoch, after the decomposition into paths; ascending. An
  /// All-to-All of many GPUs has many: 5 million for 128 in chassis of four.
  struct Part {
    EpochSend send;
    double amount = 0; ///< in chunks
  };
  std::vector<Part> parts;
  std::uint32_t epochs = 0; ///< that it uses
};

struct EpochFlowSettings {
  /// One column for all flows that automorphisms of the problem exchange: the same optimum, and
  /// flows that are alike.
  bool merged = true;
  /// The most columns of the program; larger ones are `stopped` unsolved: Clp takes minutes for
  /// them, in which it checks no limit.
  std::uint32_t most_columns = 20'000;
};

/// Fractions obey every rule of a plan on the average: limits in each of their windows, what a node
/// sends has come there, nothing is kept where nothing can be. `infeasible`: so few epochs are not
/// enough, for whole chunks neither. Pre: problem.is_unicast(), each chunk one source.
[[nodiscard]] EpochFlows epoch_flows(const EpochProblem& problem, std::uint32_t epochs,
                                     const WorkLimit& limit,
                                     const EpochFlowSettings& settings = {});

/// The smallest number of epochs in which flows are feasible: fewer are impossible for whole chunks
/// too, as far as floating point proves anything. Nothing where someone is out of reach or the
/// limit was reached. `at_least` must be a lower bound. Cost: two or three linear programs where
/// the load of limits says how many epochs it takes, else as many as the logarithm of what is above
/// that. Pre: as above.
[[nodiscard]] std::optional<std::uint32_t>
fewest_flow_epochs(const EpochProblem& problem, std::uint32_t at_least, const WorkLimit& limit);

} // namespace tutti
