// A bar for each parameter, from the mean at its best value to that at its worst.
#pragma once

#include "experiments/driver/figures/gnuplot.hpp"
#include "experiments/driver/sweep/analysis/analysed_points.hpp"
#include "experiments/driver/sweep/analysis/sensitivity.hpp"

#include <string>

namespace tutti::sweep {

/// The first 24 parameters. Pre: at least one, and one point.
[[nodiscard]] Figure sensitivity_figure(const std::string& title, const ObjectiveValues& objective,
                                        const Sensitivity& sensitivity);

/// "3.10x", or "0.25 s" for differences.
[[nodiscard]] std::string effect_text(double effect, bool ratios, Unit unit);

} // namespace tutti::sweep
