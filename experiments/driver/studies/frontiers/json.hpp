// Pareto frontiers as JSON: what `--json` prints and what results files hold.
#pragma once

#include "experiments/driver/studies/frontiers/study.hpp"

#include <nlohmann/json_fwd.hpp>

namespace tutti {

/// All of it but the schedules and links. Times in ps, sizes in bytes, rates in bytes/s; null where
/// there is none.
[[nodiscard]] nlohmann::ordered_json frontier_json(const FrontierEvaluation& evaluation);

/// The same with the rows of the paper under "paper", and under "beyond_paper" the indices of the
/// points that none of them comes up to.
[[nodiscard]] nlohmann::ordered_json study_json(const FrontierStudyEvaluation& study);

} // namespace tutti
