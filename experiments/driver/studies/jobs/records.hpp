// Jobs on one network as records.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/jobs/study.hpp"

#include <span>

namespace tutti {

/// One row per plan and job.
[[nodiscard]] Records job_records(std::span<const JobStudyEvaluation> studies);

} // namespace tutti
