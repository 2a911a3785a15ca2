// Jobs that share a network as JSON.
#pragma once

#include "experiments/driver/studies/jobs/study.hpp"

#include <nlohmann/json_fwd.hpp>

namespace tutti {

/// Details of each row of job_records(): the algorithm that the job itself names, whether its
/// number of chunks was chosen by Tutti, what is wrong with its plan.
[[nodiscard]] nlohmann::ordered_json job_details(const JobStudyEvaluation& study);

} // namespace tutti
