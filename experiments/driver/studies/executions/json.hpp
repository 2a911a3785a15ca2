// Executions as JSON: what `tutti exec --json` and results.json hold.
#pragma once

#include "experiments/driver/studies/executions/evaluation.hpp"

#include <nlohmann/json_fwd.hpp>

namespace tutti {

/// Details of each row of execution_records(): every repetition's seconds, every pass's prediction.
[[nodiscard]] nlohmann::ordered_json execution_details(const ExecutionEvaluation& evaluation);

/// Where and how all was run, a list of one.
[[nodiscard]] nlohmann::ordered_json about_executions(const ExecutionEvaluation& evaluation);

/// Each link's latency and bandwidth with its timings and the error of the fit; the joint rate.
[[nodiscard]] nlohmann::ordered_json profile_json(const Topology& network,
                                                  const runtime::Profile& profile);

} // namespace tutti
