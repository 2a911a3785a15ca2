// Collectives through failures as records.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/failures/study.hpp"

#include <span>
#include <vector>

namespace tutti {

struct PolicyRow {
  const FailureEvaluation* e;
  const ScenarioEvaluation* scenario = nullptr; ///< null: there is no schedule
  const PolicyEvaluation* policy = nullptr;     ///< likewise
  const NoiseOutcome* noise = nullptr;          ///< null: nothing is drawn

  [[nodiscard]] const Recovery& recovery() const { return policy->recovery; }
};

/// In their order, which is that of records and details.
[[nodiscard]] std::vector<PolicyRow> policy_rows(std::span<const FailureEvaluation> evaluations);

/// Fields of the rows; `noise`: some rows have draws, so that theirs are included.
[[nodiscard]] Fields<PolicyRow> policy_row_fields(bool noise);

/// Those that records of some study have.
[[nodiscard]] std::vector<RecordColumn> failure_columns();

/// One row per algorithm, scenario and policy, and skew where something is drawn; one with its
/// reason for an algorithm without a schedule.
[[nodiscard]] Records failure_records(std::span<const FailureStudyEvaluation> studies);

} // namespace tutti
