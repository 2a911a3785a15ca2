// What charts are made of: the heading around a plot, and the plot itself with its axes, in whose
// values points, lines and areas are given.
#pragma once

#include "experiments/driver/figures/canvas.hpp"
#include "experiments/driver/figures/figure_frame.hpp"
#include "experiments/driver/figures/style.hpp"
#include "experiments/driver/records/power_law.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

/// Where the parts of a chart lie, in points from its upper left corner.
struct ChartFrame {
  FigureFrame heading;
  int width = page_width;
  double scale = 1;              ///< of letters: a chart wider than a page has larger ones
  double left = 76, right = 560; ///< the plot's edges
  double top = 50, bottom = 320;
  double under_plot = 38; ///< room for the axis

  /// Room for the heading above the plot and below its axis.
  ChartFrame(const Heading& text, int width_of_figure, double left_of_plot, double right_of_plot,
             double plot_height, double above = 0, double below = 0);
  [[nodiscard]] double height() const; ///< of the whole
  [[nodiscard]] Canvas canvas() const { return Canvas(scale); }
  /// With the heading; `data`: its rows, with a header.
  [[nodiscard]] Figure figure(Canvas canvas, std::vector<std::vector<std::string>> data = {}) const;
};

/// Points of width that the heading needs on one line, up to a page's.
[[nodiscard]] int heading_width(const Heading& heading);

/// An axis from end to end.
struct PlotAxis {
  double low = 0, high = 1;
  bool logarithmic = false;
  std::vector<AxisTic> tics = {}; ///< empty: round numbers

  /// 0 at its low end, 1 at its high one.
  [[nodiscard]] double share(double value) const;
  /// Pre: `most` > 0.
  [[nodiscard]] std::vector<AxisTic> marks(std::size_t most) const;
};

/// A symbol at a point.
struct PointMark {
  enum class Shape : std::uint8_t { disc, square, up, diamond, down, pentagon };
  Shape shape = Shape::disc;
  bool hollow = false;
  bool operator==(const PointMark&) const = default;
};
/// One for each colour: filled, and hollow on every second kind of lines.
[[nodiscard]] PointMark point_mark(std::size_t colour, std::size_t dash);
void paint_mark(Canvas& canvas, int layer, Position at, PointMark mark, double radius, int colour);

/// Layers of charts, of which a curve may take several from the first on.
inline constexpr int back_layer = 0, grid_layer = 5, axis_layer = 8, curve_layer = 10,
                     text_layer = 1000;
inline constexpr int ink = 0x222222, tic_ink = 0x333333, note_ink = 0x555555, axis_ink = 0x555555,
                     grid_colour = 0xdddddd;
inline constexpr double chart_font = 11;

/// A plot on a canvas. What it paints of values lies within it where these are on its axes.
class Plot {
public:
  Plot(Canvas& canvas, const ChartFrame& frame, PlotAxis x, PlotAxis y)
      : Plot(canvas, {frame.left, frame.top}, {frame.right, frame.bottom}, std::move(x),
             std::move(y), frame.scale) {}
  Plot(Canvas& canvas, Position least, Position most, PlotAxis x, PlotAxis y, double scale = 1)
      : canvas_(canvas), x_(std::move(x)), y_(std::move(y)), least_(least), most_(most),
        scale_(scale) {}

  [[nodiscard]] double at_x(double value) const {
    return least_.x + x_.share(value) * (most_.x - least_.x);
  }
  [[nodiscard]] double at_y(double value) const {
    return most_.y - y_.share(value) * (most_.y - least_.y);
  }
  [[nodiscard]] bool shows(Position at) const {
    return at.y >= least_.y - 0.5 && at.y <= most_.y + 0.5;
  }
  [[nodiscard]] double within(double y) const { return std::clamp(y, least_.y, most_.y); }
  /// The parts of a line that lie within the plot's height.
  [[nodiscard]] std::vector<std::vector<Position>> shown(std::span<const Position> line) const;
  /// Points that 1 takes on a linear x axis.
  [[nodiscard]] double unit_x() const { return (most_.x - least_.x) / (x_.high - x_.low); }
  [[nodiscard]] Position at(double x, double y) const { return {at_x(x), at_y(y)}; }
  [[nodiscard]] Position at(const PlotPoint& point) const { return at(point.x, point.y); }

  /// The axis below or to the left, with marks and, if asked for, lines of a grid.
  void paint_x(bool has_grid, double font = chart_font, bool is_slanted = false) const;
  void paint_y(bool has_grid, double font = chart_font) const;
  /// What an axis shows: `away` points below the plot; upright at this x.
  void name_x(std::string_view text, double away = 34) const;
  void name_y(std::string_view text, double x = 16) const;

private:
  Canvas& canvas_;
  PlotAxis x_, y_;
  Position least_, most_;
  double scale_;
};

/// Values that hold until the next point as the line that shows them.
[[nodiscard]] std::vector<Position> stairs(std::span<const Position> points,
                                           bool rise_first = false);

} // namespace tutti
