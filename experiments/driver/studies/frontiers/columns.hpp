// Pareto frontiers as records.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/frontiers/study.hpp"

#include <span>

namespace tutti {

/// One row per point and size.
[[nodiscard]] Records frontier_records(std::span<const FrontierStudyEvaluation> studies);

/// One row per algorithm of a paper.
[[nodiscard]] Records paper_records(std::span<const FrontierStudyEvaluation> studies);

} // namespace tutti
