// Collectives through failures as JSON: what `--json` prints and what results files hold.
#pragma once

#include "experiments/driver/studies/failures/evaluation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>

namespace tutti {

/// Of each row of failure_records(): decisions, what is missing or stuck. "progress" stands only
/// where an algorithm has one run.
[[nodiscard]] nlohmann::ordered_json
failure_details(std::span<const FailureEvaluation> evaluations);

/// Of each algorithm: the undisturbed run, and events and cuts of all runs under "scenarios".
[[nodiscard]] nlohmann::ordered_json about_failures(std::span<const FailureEvaluation> evaluations);

} // namespace tutti
