// Measured and predicted time over the size, and their ratio.
#pragma once

#include "experiments/driver/figures/gnuplot.hpp"
#include "experiments/driver/studies/executions/evaluation.hpp"

namespace tutti {

/// Whether any run was measured.
[[nodiscard]] bool was_measured(const ExecutionEvaluation& evaluation);

/// Per algorithm a curve of measured and one of predicted times, both axes logarithmic.
/// Pre: was_measured().
[[nodiscard]] Figure execution_figure(const ExecutionEvaluation& evaluation);

} // namespace tutti
