// The pictures that an experiment asks for, from its evaluations.
#pragma once

#include "experiments/driver/figures/gnuplot.hpp"
#include "experiments/driver/studies/experiment.hpp"

#include <span>

namespace tutti {

/// Figures speak of the first replay of each evaluation; those without a correct schedule are left
/// out. Pre: `evaluations` are those of `experiment.cases()`.
/// Errors: InputError naming the figure's file where nothing is left to draw.
[[nodiscard]] Figure make_figure(const FigureRequest& request, const Experiment& experiment,
                                 std::span<const Evaluation> evaluations);

} // namespace tutti
