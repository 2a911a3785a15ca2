// Collectives through failures as records.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/failures/study.hpp"

#include <span>

namespace tutti {

/// One row per algorithm, scenario and policy; one with its reason for an algorithm without a
/// schedule.
[[nodiscard]] Records failure_records(std::span<const FailureStudyEvaluation> studies);

} // namespace tutti
