// Charts that compare algorithms: grouped bars (TACOS paper, Fig. 2: one group per topology, one
// bar per algorithm) and curves over the collective's size.
#pragma once

#include "experiments/gnuplot.hpp"
#include "sim/units.hpp"

#include <string>
#include <vector>

namespace tutti {

/// One value per series; NaN where there is none (drawn as "n/a").
struct BarGroup {
  std::string name;
  std::vector<double> values;
};

struct BarChart {
  std::string title;
  std::string y_label;             ///< with its unit: "algorithm bandwidth [GB/s]"
  std::vector<std::string> series; ///< the algorithms, for the legend
  std::vector<BarGroup> groups;    ///< the topologies
  bool logarithmic = false;        ///< for values of different magnitude; all must then be positive
};

/// Bars with their values on top (three significant digits, in the unit of the axis).
/// Pre: one value per series in each group, not negative. Errors: InputError without a value.
[[nodiscard]] Figure bar_figure(const BarChart& chart);

struct SizePoint {
  Bytes size;
  double value = 0;
};

struct SizeCurve {
  std::string name;
  std::vector<SizePoint> points; ///< ascending by size
};

struct SizeChart {
  std::string title;
  std::string y_label; ///< with its unit
  std::vector<SizeCurve> curves;
};

/// Curves over the size on a logarithmic axis labelled in bytes (1 KiB, 1 MiB, ...), one colour and
/// mark per algorithm. Pre: sizes >= 1 B, values finite. Errors: InputError without a point.
[[nodiscard]] Figure size_figure(const SizeChart& chart);

} // namespace tutti
