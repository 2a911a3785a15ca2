// The best plan in K epochs by the integer program, one shot (TE-CCL sec. 3.1).
#pragma once

#include "sim/work_limit.hpp"
#include "synth/teccl/epoch_answer.hpp"
#include "synth/teccl/epoch_program.hpp"

#include <optional>

namespace tutti {

/// `start`: a plan in at most so many epochs, to start from. `most_nodes`: of the search tree.
[[nodiscard]] EpochAnswer epoch_optimum(const EpochProblem& problem, std::uint32_t epochs,
                                        EpochObjective objective,
                                        const std::optional<EpochPlan>& start,
                                        std::int64_t most_nodes, const WorkLimit& limit);

} // namespace tutti
