// Jobs that share a network as JSON.
#pragma once

#include "experiments/driver/studies/jobs/study.hpp"

#include <nlohmann/json_fwd.hpp>

namespace tutti {

/// Times in ps, sizes in bytes, rates in bytes/s; null where there is none.
[[nodiscard]] nlohmann::ordered_json jobs_json(const JobStudyEvaluation& study);

} // namespace tutti
