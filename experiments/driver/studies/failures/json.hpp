// Collectives through failures as JSON: what `--json` prints and what results files hold.
#pragma once

#include "experiments/driver/studies/failures/evaluation.hpp"

#include <nlohmann/json_fwd.hpp>

namespace tutti {

/// All runs under "scenarios", each with its events and policies. Times in ps, sizes in bytes; null
/// where there is none. "progress" of policies stands only where there is one run.
[[nodiscard]] nlohmann::ordered_json failure_json(const FailureEvaluation& evaluation);

} // namespace tutti
