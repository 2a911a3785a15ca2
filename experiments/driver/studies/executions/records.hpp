// Executions as records.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/executions/evaluation.hpp"

#include <span>

namespace tutti {

struct ExecutionRow {
  const ExecutionEvaluation* e;
  const ExecutionRun* run;
};
[[nodiscard]] Fields<ExecutionRow> execution_fields();

/// One row per algorithm and size.
[[nodiscard]] Records execution_records(std::span<const ExecutionEvaluation> evaluations);

} // namespace tutti
