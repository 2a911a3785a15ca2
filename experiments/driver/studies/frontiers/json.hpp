// Pareto frontiers as JSON: what `--json` prints and what results files hold.
#pragma once

#include "experiments/driver/studies/frontiers/study.hpp"

#include <nlohmann/json_fwd.hpp>

namespace tutti {

/// Details of each row of frontier_records(): its point's index, and the time of each engine.
[[nodiscard]] nlohmann::ordered_json frontier_details(const FrontierStudyEvaluation& study);

/// A list of one: points, trials, bounds, the rows of the paper under "paper", and under
/// "beyond_paper" the indices of the points that none of them comes up to.
[[nodiscard]] nlohmann::ordered_json about_frontier(const FrontierStudyEvaluation& study);

} // namespace tutti
