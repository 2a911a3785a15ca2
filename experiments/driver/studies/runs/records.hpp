// Runs as records, and the columns that a replay has in every kind of study.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Engine, time model, time, bounds, rates and utilisation.
[[nodiscard]] const Fields<Replay>& replay_fields();

struct RunRow {
  const Evaluation* e;
  const Replay* replay;                ///< null: there is none
  const NoiseOutcome* noise = nullptr; ///< null: none was asked for
};
/// Columns that not every run has.
struct OptionalRunColumns {
  bool transport = false, over_nccl = false, noise = false;
};
/// Those that some of these evaluations have.
[[nodiscard]] OptionalRunColumns optional_columns(std::span<const Evaluation> evaluations);
/// Fields of the rows of these evaluations; facts that some evaluation has are columns `fact:NAME`.
[[nodiscard]] Fields<RunRow> run_fields(std::span<const Evaluation> evaluations,
                                        const OptionalRunColumns& optional);

/// Those of a replay, or one that is null.
[[nodiscard]] std::vector<const NoiseOutcome*> noises_of(const Replay& replay);

/// One row per replay and skew (one with empty figures where there is none), in the given order.
/// Columns of noise, and `over_nccl`, are there where some row has any. What may differ from run to
/// run, CPU seconds and memory, stands last.
[[nodiscard]] Records run_records(std::span<const Evaluation> evaluations);

/// Maps an evaluation to a column's value in its first row; facts are columns, too.
[[nodiscard]] std::function<Cell(const Evaluation&)> run_column(const std::string& name);

} // namespace tutti
