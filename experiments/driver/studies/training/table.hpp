// Iterations of training as text and CSV.
#pragma once

#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/training/evaluation.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What each run takes, where its time goes, what was planned, memory, hot links and the work of
/// simulating.
[[nodiscard]] std::string training_text(const TrainingEvaluation& evaluation,
                                        const TableForm& form = {});

/// How it was simulated: "engine native, links busy for serialization, forwarding auto", and what
/// else is not by default.
[[nodiscard]] std::string conditions_text(const TrainingEvaluation& evaluation,
                                          const std::string& engine);

/// How --columns may call what these tables have, or could have.
[[nodiscard]] std::vector<std::string> training_table_columns(bool draws);

} // namespace tutti
