// Executions as JSON: what `tutti exec --json` and results.json hold.
#pragma once

#include "experiments/driver/studies/executions/evaluation.hpp"

#include <nlohmann/json_fwd.hpp>

namespace tutti {

[[nodiscard]] nlohmann::ordered_json execution_json(const ExecutionEvaluation& evaluation);

/// Each link's latency and bandwidth with its timings and the error of the fit; the joint rate.
[[nodiscard]] nlohmann::ordered_json profile_json(const Topology& network,
                                                  const runtime::Profile& profile);

} // namespace tutti
