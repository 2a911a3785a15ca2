// Stacked bars: what each value is made of (TACOS paper, Fig. 24: compute and exposed communication
// of an iteration, one bar per algorithm).
#pragma once

#include "experiments/driver/figures/picture.hpp"
#include "experiments/driver/figures/style.hpp"

#include <string>
#include <vector>

namespace tutti {

struct StackedBar {
  std::string name;
  std::vector<double> parts; ///< one per StackedChart::parts, not negative; empty: "n/a"
};

struct StackedGroup {
  std::string name;
  std::vector<StackedBar> bars;
};

struct StackedChart {
  Heading heading;
  std::string value_label;        ///< with its unit
  std::vector<std::string> parts; ///< from the axis on, for the legend
  std::vector<StackedGroup> groups;
};

/// Bars on their sides, with their names before and their totals behind them, each group under its
/// name.
/// Errors: InputError without a bar that has parts.
[[nodiscard]] Figure stacked_bar_figure(const StackedChart& chart);

} // namespace tutti
