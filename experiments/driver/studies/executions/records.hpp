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
/// `fitted`: some run of all is fitted to.
[[nodiscard]] Fields<ExecutionRow> execution_fields(bool fitted);

/// One row per algorithm and size.
[[nodiscard]] Records execution_records(std::span<const ExecutionEvaluation> evaluations);
/// All that there may be.
[[nodiscard]] std::vector<RecordColumn> execution_columns();

} // namespace tutti
