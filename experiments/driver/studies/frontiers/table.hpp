// Pareto frontiers for people: the tables on the terminal and the rows of the CSV files.
#pragma once

#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/frontiers/study.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// R/C as a fraction and, where it isn't whole, as a number: "7/6 = 1.167".
[[nodiscard]] std::string cost_text(const Ratio& cost);

/// The points with their proofs and times, what no schedule can beat, why the search ended, and
/// which point is best from which size on.
[[nodiscard]] std::string frontier_text(const FrontierEvaluation& evaluation,
                                        const TableForm& form = {});

/// The paper's rows with our answers and verdicts, then the points beyond them; empty without rows.
[[nodiscard]] std::string instances_text(const FrontierStudyEvaluation& study,
                                         const TableForm& form = {});

/// How --columns may call what these tables have.
[[nodiscard]] std::vector<std::string> frontier_table_columns();

} // namespace tutti
