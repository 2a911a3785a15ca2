// Iterations of training as records.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/training/evaluation.hpp"

#include <span>
#include <vector>

namespace tutti {

/// One row per run, of those with draws one per skew. Times per iteration are means over NPUs; sums
/// over NPUs are exact. What draws came to has columns where some run has draws.
[[nodiscard]] Records training_records(std::span<const TrainingEvaluation> evaluations);
/// All that such rows may have.
[[nodiscard]] std::vector<RecordColumn> training_columns();

/// One for each row of the run: null where it has no draws.
[[nodiscard]] std::vector<const NoiseOutcome*> noises_of(const TrainingRun& run);

/// One row per run and NPU: its account, exact, of all iterations.
[[nodiscard]] Records npu_records(std::span<const TrainingEvaluation> evaluations);

} // namespace tutti
