// Runs as records, and the columns that a replay has in every kind of study.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"

#include <functional>
#include <span>
#include <string>

namespace tutti {

/// Engine, time model, time, bounds, rates and utilisation.
[[nodiscard]] const Fields<Replay>& replay_fields();

struct RunRow {
  const Evaluation* e;
  const Replay* replay; ///< null: there is none
};
/// Of these evaluations: facts that some evaluation has are columns `fact:NAME`.
[[nodiscard]] Fields<RunRow> run_fields(std::span<const Evaluation> evaluations);

/// One row per replay (one with empty figures where there is none), in the given order. What
/// may differ from run to run, CPU seconds and memory, stands last.
[[nodiscard]] Records run_records(std::span<const Evaluation> evaluations);

/// Of an evaluation the value of a column in its first row; facts are columns, too.
[[nodiscard]] std::function<Cell(const Evaluation&)> run_column(const std::string& name);

} // namespace tutti
