// Iterations of training as records.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/training/evaluation.hpp"

#include <span>

namespace tutti {

/// One row per run. Times per iteration are means over NPUs; sums over NPUs are exact.
[[nodiscard]] Records training_records(std::span<const TrainingEvaluation> evaluations);

/// One row per run and NPU: its account, exact, of all iterations.
[[nodiscard]] Records npu_records(std::span<const TrainingEvaluation> evaluations);

} // namespace tutti
