// Collectives through failures as records.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/failures/study.hpp"

#include <span>

namespace tutti {

/// One row per algorithm, scenario and policy.
[[nodiscard]] Records failure_records(std::span<const FailureStudyEvaluation> studies);

} // namespace tutti
