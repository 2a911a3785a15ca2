// Collectives through failures, for people: the tables on the terminal and the rows of CSV files.
#pragma once

#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/failures/study.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Policies of all algorithms in one table: medians over the seeds, a row for each number of failed
/// links. Where an evaluation is one run, its story follows: events, what is stuck, who misses
/// what, and what each policy decided. Pre: at least one, all of one topology and collective.
[[nodiscard]] std::string failures_text(std::span<const FailureEvaluation> evaluations,
                                        const TableForm& form = {});
/// How --columns may call what the table has, or could have.
[[nodiscard]] std::vector<std::string> failure_table_columns(bool draws);

/// What is wrong with each, in words; empty where all is well.
[[nodiscard]] std::vector<std::string> problems_of(std::span<const FailureEvaluation> evaluations);
/// Why not one algorithm made a schedule; empty where one did.
[[nodiscard]] std::vector<std::string> nothing_made(std::span<const FailureEvaluation> evaluations);

} // namespace tutti
