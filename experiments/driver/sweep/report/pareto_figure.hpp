// A front of two objectives: its points on a staircase, the points that they beat behind it.
#pragma once

#include "experiments/driver/figures/gnuplot.hpp"
#include "experiments/driver/sweep/analysis/analysed_points.hpp"
#include "experiments/driver/sweep/analysis/pareto_front.hpp"

#include <span>
#include <string>

namespace tutti::sweep {

struct ParetoChart {
  std::string title;
  const ObjectiveValues& x;
  const ObjectiveValues& y;
  std::span<const Candidate> candidates; ///< all points
  std::span<const FrontPoint> front;     ///< ascending by x; at least one
  const Levels* name = nullptr;          ///< colours points; null: one colour
};

/// Axes are logarithmic where values are positive and spread over more than a factor of 30. Of
/// points that lie closely together one is drawn. Names that have no point on the front, and those
/// beyond the first 20, share a grey.
[[nodiscard]] Figure pareto_figure(const ParetoChart& chart);

} // namespace tutti::sweep
