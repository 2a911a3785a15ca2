// Collectives through failures as JSON: what `--json` prints and what results files hold.
#pragma once

#include "experiments/driver/studies/failures/evaluation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>

namespace tutti {

/// Details of each row of failure_records(): decisions, what is missing or stuck, and "progress"
/// where the algorithm has only one run.
[[nodiscard]] nlohmann::ordered_json
failure_details(std::span<const FailureEvaluation> evaluations);

/// An object for each algorithm: the undisturbed run, and under "scenarios" events and cuts of all
/// runs.
[[nodiscard]] nlohmann::ordered_json about_failures(std::span<const FailureEvaluation> evaluations);

} // namespace tutti
