// Collectives through failures as columns: the records of CSV and JSON, and what people see of
// them.
#pragma once

#include "experiments/driver/studies/failures/study.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Those that records of some study have.
[[nodiscard]] std::vector<RecordColumn> failure_columns();

/// One row per algorithm, scenario and policy, and skew where something is drawn; one with its
/// reason for an algorithm without a schedule.
[[nodiscard]] Records failure_records(std::span<const FailureEvaluation> evaluations);

/// Details of each of these rows: decisions, what is missing or stuck, and "progress" where the
/// algorithm has only one run.
[[nodiscard]] nlohmann::ordered_json
failure_details(std::span<const FailureEvaluation> evaluations);

/// An object for each algorithm: the undisturbed run, and under "scenarios" events and cuts of all
/// runs.
[[nodiscard]] nlohmann::ordered_json about_failures(std::span<const FailureEvaluation> evaluations);

/// Policies of all algorithms in one table: medians over the seeds, a row for each number of failed
/// links. Where an evaluation is one run, its story follows: events, what is stuck, who misses
/// what, and what each policy decided. Pre: at least one, all of one topology and collective.
[[nodiscard]] std::string failures_text(std::span<const FailureEvaluation> evaluations,
                                        const TableForm& form = {});
/// How --columns may call what the table has, or could have.
[[nodiscard]] std::vector<std::string> failure_table_columns(bool draws);

} // namespace tutti
