// Iterations of training as JSON: what `tutti train --json` prints and results files hold.
#pragma once

#include "experiments/driver/studies/training/evaluation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>

namespace tutti {

/// Times in ps, sizes in bytes; null where there is none. Times are of all iterations, but for
/// iteration_ps.
[[nodiscard]] nlohmann::ordered_json training_json(const TrainingEvaluation& evaluation,
                                                   NpuDetail detail);

} // namespace tutti
