// A Pareto frontier as a picture: each point's bandwidth over the size, as in SCCL (Cai et al.
// 2021, Fig. 4 to 7), and the sizes from which on another point is best.
#pragma once

#include "experiments/driver/figures/gnuplot.hpp"
#include "experiments/driver/studies/frontiers/evaluation.hpp"

namespace tutti {

/// Both axes are logarithmic. Errors: InputError where no point has a time.
[[nodiscard]] Figure frontier_figure(const FrontierEvaluation& evaluation);

} // namespace tutti
