// Jobs that share a network as JSON.
#pragma once

#include "experiments/driver/studies/jobs/study.hpp"

#include <nlohmann/json_fwd.hpp>

namespace tutti {

/// Of each row of job_records(): by what algorithm, who chose its chunks, what is wrong with its
/// plan.
[[nodiscard]] nlohmann::ordered_json job_details(const JobStudyEvaluation& study);

} // namespace tutti
