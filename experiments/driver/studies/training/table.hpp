// Iterations of training as text and CSV.
#pragma once

#include "experiments/driver/studies/training/evaluation.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What each run takes, where its time goes, what was planned, memory, hot links and the work of
/// simulating.
[[nodiscard]] std::string training_text(const TrainingEvaluation& evaluation);

/// How it was simulated: "engine native, links busy for serialization, forwarding auto", and what
/// else is not by default.
[[nodiscard]] std::string conditions_text(const TrainingEvaluation& evaluation,
                                          const std::string& engine);

/// One row per run. Times per iteration are means over NPUs, in ps; sums over NPUs are exact.
[[nodiscard]] std::vector<std::vector<std::string>>
training_csv(std::span<const TrainingEvaluation> evaluations);

/// One row per run and NPU: its account, exact, of all iterations.
[[nodiscard]] std::vector<std::vector<std::string>>
training_npus_csv(std::span<const TrainingEvaluation> evaluations);

} // namespace tutti
