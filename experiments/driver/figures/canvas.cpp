// gnuplot draws a data block in one style, so what looks alike is gathered: a layer and a style
// make a block. Coordinates are rounded to hundredths of a point, which nobody sees.
#include "experiments/driver/figures/canvas.hpp"

#include "experiments/driver/figures/style.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tutti {

namespace {

/// "12.5": to a hundredth, without "-0".
std::string coordinate_text(double value) {
  const double rounded = std::round(value * 100) / 100;
  return fmt::format("{}", rounded == 0 ? 0 : rounded);
}

std::string points_text(std::span<const Position> points) {
  std::string text;
  for (const Position& point : points)
    text += coordinate_text(point.x) + " " + coordinate_text(point.y) + "\n";
  return text + "\n";
}

} // namespace

void Canvas::line(int layer, std::span<const Position> points, int colour, double width,
                  bool is_dotted) {
  data_[{layer, fmt::format("using 1:2 with lines{} linewidth {:.2f} linecolor rgb '#{:06x}'",
                            is_dotted ? " dashtype '.'" : "", width, colour)}] +=
      points_text(points);
}

void Canvas::area(int layer, std::span<const Position> corners, int colour) {
  data_[{layer, fmt::format("using 1:2 with filledcurves closed fillstyle solid noborder "
                            "fillcolor rgb '#{:06x}'",
                            colour)}] += points_text(corners);
}

void Canvas::disc(int layer, Position middle, double radius, int colour, int edge) {
  data_[{layer, fmt::format("using 1:2:3:4 with circles fillstyle solid border rgb '#{:06x}' "
                            "linewidth 0.8 linecolor rgb variable",
                            edge)}] +=
      fmt::format("{} {} {} {}\n", coordinate_text(middle.x), coordinate_text(middle.y),
                  coordinate_text(radius), colour);
}

void Canvas::square(int layer, Position middle, double half, int colour, int edge) {
  data_[{layer, fmt::format("using 1:2:3:4:5 with boxxyerror fillstyle solid border rgb "
                            "'#{:06x}' linewidth 0.8 linecolor rgb variable",
                            edge)}] +=
      fmt::format("{} {} {} {} {}\n", coordinate_text(middle.x), coordinate_text(middle.y),
                  coordinate_text(half), coordinate_text(half), colour);
}

void Canvas::text(int layer, Position at, std::string_view text, double font, int colour,
                  Anchor anchor) {
  if (text.empty()) return;
  constexpr std::string_view names[] = {"left", "center", "right"};
  data_[{layer,
         fmt::format("using 1:2:3 with labels {} font 'sans-serif,{:.2f}' textcolor rgb '#{:06x}'",
                     names[static_cast<std::size_t>(anchor)], font, colour)}] +=
      fmt::format("{} {} {}\n", coordinate_text(at.x), coordinate_text(at.y), data_text(text));
}

Figure Canvas::figure(double width, double height) const {
  const int w = static_cast<int>(std::ceil(width)), h = static_cast<int>(std::ceil(height));
  std::string blocks, plots;
  std::size_t index = 0;
  for (const auto& [key, data] : data_) {
    blocks += fmt::format("$d{} << END\n{}END\n", index, data);
    plots += fmt::format("{}$d{} {}", index == 0 ? "plot " : ", \\\n     ", index, key.second);
    ++index;
  }
  return {blocks +
              fmt::format("unset border\nunset tics\nunset key\n"
                          "set lmargin at screen 0\nset rmargin at screen 1\n"
                          "set tmargin at screen 1\nset bmargin at screen 0\n"
                          "set xrange [0:{}]\nset yrange [{}:0]\n",
                          w, h) +
              plots + "\n",
          w, h};
}

} // namespace tutti
