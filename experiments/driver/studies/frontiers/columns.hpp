// Pareto frontiers as columns: the records of CSV and JSON, and what people see of them.
#pragma once

#include "experiments/driver/studies/frontiers/study.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace tutti {

/// One row per point and size.
[[nodiscard]] Records frontier_records(const FrontierStudyEvaluation& study);

/// One row per algorithm of a paper.
[[nodiscard]] Records paper_records(const FrontierStudyEvaluation& study);

/// Details of each row of frontier_records(): its point's index, and the time of each engine.
[[nodiscard]] nlohmann::ordered_json frontier_details(const FrontierStudyEvaluation& study);

/// A list of one: points, trials, bounds, the rows of the paper under "paper", and under
/// "beyond_paper" the indices of the points that none of them comes up to.
[[nodiscard]] nlohmann::ordered_json about_frontier(const FrontierStudyEvaluation& study);

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
