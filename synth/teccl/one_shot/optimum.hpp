// The best plan in K epochs by the integer program, one shot (TE-CCL sec. 3.1).
#pragma once

#include "sim/work_limit.hpp"
#include "synth/teccl/answer.hpp"
#include "synth/teccl/one_shot/program.hpp"

#include <optional>

namespace tutti {

struct OptimumEffort {
  std::int64_t most_nodes = -1; ///< of the search tree; no limit
  double gap = 0;               ///< a plan whose reward is at most such a part too low is optimal
};

/// `start`: a plan in at most so many epochs, to start from.
[[nodiscard]] EpochAnswer epoch_optimum(const EpochProblem& problem, std::uint32_t epochs,
                                        EpochObjective objective,
                                        const std::optional<EpochPlan>& start,
                                        const OptimumEffort& effort, const WorkLimit& limit);

} // namespace tutti
