// Iterations of training as JSON: what `tutti train --json` prints and results files hold.
#pragma once

#include "experiments/driver/studies/training/evaluation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>

namespace tutti {

/// Details of each row of training_records(): its workload, accounts, links and plans, with the
/// detail of NPUs also its draws. Times in ps, of all iterations.
[[nodiscard]] nlohmann::ordered_json training_details(const TrainingEvaluation& evaluation,
                                                      NpuDetail detail);

} // namespace tutti
