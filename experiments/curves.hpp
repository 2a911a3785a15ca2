// Curves that compare algorithms: over the collective's size, over the number of its chunks (TACOS
// paper, Fig. 22), over the size of the problem with the law by which they grow (Fig. 21), or over
// counts and times on a linear axis.
#pragma once

#include "experiments/figure_style.hpp"
#include "experiments/gnuplot.hpp"
#include "experiments/power_law.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

/// How the x axis counts; logarithmic but for the last.
enum class CurveAxis : std::uint8_t {
  bytes,  ///< marks at powers of two, as 1 KiB, 1 MiB
  powers, ///< marks at powers of two, as 1, 2, 4
  tens,   ///< marks at powers of ten
  linear, ///< from 0
};

struct Curve {
  std::string name;
  std::vector<PlotPoint> points; ///< ascending by x
};

/// A thin upright line with words along it.
struct CurveMark {
  double x = 1;
  std::string text;
};

struct CurveChart {
  Heading heading;
  CurveAxis axis = CurveAxis::bytes;
  std::string x_label, y_label; ///< with units
  std::vector<Curve> curves;
  /// A letter for what x counts: the y axis is then logarithmic, and each curve has its power law,
  /// as a dashed line and in the legend ("tacos: N^2.01"). Empty: neither.
  std::string growth_in;
  bool logarithmic = false; ///< the y axis
  std::vector<CurveMark> marks = {};
  bool steps = false; ///< a value holds until the next point; points aren't marked
};

/// One colour and mark per curve. Pre: x >= 1 (linear: >= 0), y finite, positive where its axis is
/// logarithmic.
/// Errors: InputError without a point.
[[nodiscard]] Figure curve_figure(const CurveChart& chart);

} // namespace tutti
