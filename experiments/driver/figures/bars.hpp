// Grouped bars that compare algorithms (TACOS paper, Fig. 2: one group per topology, one bar per
// algorithm).
#pragma once

#include "experiments/driver/figures/picture.hpp"
#include "experiments/driver/figures/style.hpp"

#include <limits>
#include <string>
#include <vector>

namespace tutti {

/// One value per series; NaN where there is none (drawn as "n/a").
struct BarGroup {
  std::string name;
  std::vector<double> values;
  std::vector<double> printed = {}; ///< marks: what a paper prints of each; empty: of none
  double bound = std::numeric_limits<double>::quiet_NaN(); ///< a line across the group
};

struct BarChart {
  Heading heading;
  std::string y_label;             ///< with its unit: "algorithm bandwidth [GB/s]"
  std::vector<std::string> series; ///< the algorithms, for the legend
  std::vector<BarGroup> groups;    ///< the topologies
  bool logarithmic = false;        ///< for values of different magnitude; all must then be positive
};

/// Bars with their values on top (three significant digits, in the unit of the axis).
/// Pre: one value per series in each group, not negative. Errors: InputError without a value.
[[nodiscard]] Figure bar_figure(const BarChart& chart);

} // namespace tutti
