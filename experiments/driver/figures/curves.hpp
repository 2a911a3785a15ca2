// Curves that compare algorithms: over the collective's size, over the number of its chunks (TACOS
// paper, Fig. 22), over the size of the problem with the law by which they grow (Fig. 21), over
// counts and times on a linear axis, or over names; with bands where values are uncertain.
#pragma once

#include "experiments/driver/figures/picture.hpp"
#include "experiments/driver/figures/style.hpp"
#include "experiments/driver/records/power_law.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// How the x axis counts; the first three are logarithmic.
enum class CurveAxis : std::uint8_t {
  bytes,  ///< marks at powers of two, as 1 KiB, 1 MiB
  powers, ///< marks at powers of two, as 1, 2, 4; where values are few, at these
  tens,   ///< marks at powers of ten; where values are few, at these
  linear, ///< from 0, or from the least x
  names,  ///< one for each of 0, 1, 2 ...
};

struct CurveInterval {
  double x = 0, low = 0, high = 0;
};

/// What tells a curve from the others, and what it shares with some: an algorithm's curves may have
/// one hue, and those of a collective one dash.
struct CurveLook {
  std::size_t hue = 0, dash = 0;
};

enum class CurveKind : std::uint8_t {
  curve,
  bound,  ///< a thin black line without marks: what no curve passes
  points, ///< marks alone: measured, or published
};

struct Curve {
  std::string name;
  std::vector<PlotPoint> points;        ///< ascending by x
  std::vector<CurveInterval> band = {}; ///< where its values may lie, ascending by x
  std::optional<CurveLook> look = {};   ///< none: by its place among the curves
  CurveKind kind = CurveKind::curve;
};

/// A thin upright line with words above it.
struct CurveMark {
  double x = 1;
  std::string text;
};

struct CurveChart {
  Heading heading;
  CurveAxis axis = CurveAxis::bytes;
  std::string x_label, y_label; ///< with units
  std::vector<Curve> curves;
  /// A letter for what x counts: the y axis is then logarithmic, and each curve of three or more x
  /// has its power law, as a dashed line and in the legend ("tacos: N^2.01"). Empty: neither.
  std::string growth_in;
  bool logarithmic = false; ///< the y axis
  std::vector<CurveMark> marks = {};
  bool steps = false; ///< a value holds until the next point; points aren't marked
  std::vector<std::string> x_names = {};            ///< of the axis of names
  std::vector<AxisTic> y_tics = {};                 ///< instead of numbers of the axis's own
  bool x_from_least = false;                        ///< of a linear axis
  std::optional<std::array<double, 2>> y_ends = {}; ///< none: by the values
};

/// The curves' names stand beside the plot, at the height at which each ends. Where curves lie upon
/// each other the upper is dashed, so that both are seen, and the name of a curve of which nothing
/// else can be seen says so. A band is shaded, or drawn as bars where it has one interval or x
/// counts names. Pre: x >= 1 (linear and names: >= 0), y finite, positive where its axis is
/// logarithmic (a band's low ends are cut off there).
/// Errors: InputError without a point.
[[nodiscard]] Figure curve_figure(const CurveChart& chart);

/// Heights nearest to the wanted ones, sorted alike, of which no two are less than `distance` apart
/// and all lie from `least` to `largest`, if there is room for them.
[[nodiscard]] std::vector<double> spread_heights(std::span<const double> wanted, double distance,
                                                 double least, double largest);

} // namespace tutti
