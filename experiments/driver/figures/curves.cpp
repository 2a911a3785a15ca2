// All curves of a chart share their axes, so extents are taken over all of them first; then each
// curve is a data block and a plot command, with bands behind everything and power laws as straight
// lines, which they are on double logarithmic axes.
#include "experiments/driver/figures/curves.hpp"

#include "experiments/driver/figures/extent.hpp"
#include "experiments/driver/records/table.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <optional>

namespace tutti {

namespace {

std::string power_text(int exponent, CurveAxis axis) {
  constexpr std::array<std::string_view, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (axis == CurveAxis::powers) return fmt::format("{:g}", std::exp2(exponent));
  return fmt::format("{} {}", 1 << (exponent % 10), units[static_cast<std::size_t>(exponent / 10)]);
}

/// Marks at powers of two, at most nine over the range: ("1 KiB" 1024, ...).
std::string power_tics(const Extent& x, CurveAxis axis) {
  const int first = static_cast<int>(std::floor(std::log2(x.smallest)));
  const int last = static_cast<int>(std::ceil(std::log2(x.largest)));
  const int step = (last - first) / 9 + 1;
  std::string tics;
  for (int e = first; e <= last; e += step)
    tics += fmt::format("{}'{}' {}", tics.empty() ? "" : ", ", power_text(e, axis), std::exp2(e));
  return fmt::format("set xtics ({})\n", tics);
}

std::string named_axis(const CurveChart& chart) {
  std::vector<AxisTic> tics;
  for (const std::string& name : chart.x_names)
    tics.push_back({static_cast<double>(tics.size()), name});
  return fmt::format("set xrange [-0.4:{}]\nset xtics ({})\nset xlabel {}\n",
                     static_cast<double>(chart.x_names.size()) - 0.6, tics_text(tics),
                     gnuplot_quoted(chart.x_label));
}

// Wide enough for names side by side.
int plot_width(const CurveChart& chart) {
  std::size_t longest = 0;
  for (const std::string& name : chart.x_names) longest = std::max(longest, display_width(name));
  return std::max(560, static_cast<int>(chart.x_names.size() * (8 * longest + 14)));
}

std::string x_axis(const CurveChart& chart, const Extent& x) {
  if (chart.axis == CurveAxis::names) return named_axis(chart);
  if (chart.axis == CurveAxis::linear)
    return fmt::format("set xrange [0:{:g}]\nset xlabel {}\n", x.largest > 0 ? 1.03 * x.largest : 1,
                       gnuplot_quoted(chart.x_label));
  const std::string scale = chart.axis == CurveAxis::tens
                                ? "set logscale x\n"
                                : "set logscale x 2\n" + power_tics(x, chart.axis);
  return scale + fmt::format("set xrange [{:g}:{:g}]\nset xlabel {}\n", 0.8 * x.smallest,
                             1.25 * x.largest, gnuplot_quoted(chart.x_label));
}

bool has_logarithmic_y(const CurveChart& chart) {
  return chart.logarithmic || !chart.growth_in.empty();
}

std::string y_axis(const CurveChart& chart, const Extent& y) {
  const std::string range =
      has_logarithmic_y(chart)
          ? fmt::format("set logscale y\nset yrange [{:g}:{:g}]\n", y.smallest / 1.5,
                        y.largest * 1.5)
          : fmt::format("set yrange [0:{:g}]\n", y.largest > 0 ? 1.06 * y.largest : 1);
  const std::string tics =
      chart.y_tics.empty() ? "" : fmt::format("set ytics ({})\n", tics_text(chart.y_tics));
  return range + tics + fmt::format("set ylabel {} offset 0.5, 0\n", gnuplot_quoted(chart.y_label));
}

std::string points_data(const Curve& curve) {
  std::string data;
  for (const PlotPoint& point : curve.points)
    data += fmt::format("{:.10g} {:.6g}\n", point.x, point.y);
  return data;
}

// "x low high"; on a logarithmic axis from `least` on.
std::string band_data(const Curve& curve, double least) {
  std::string data;
  for (const CurveInterval& each : curve.band)
    data += fmt::format("{:.10g} {:.6g} {:.6g}\n", each.x, std::max(each.low, least), each.high);
  return data;
}

// How the c-th curve's band is drawn, behind all curves.
std::string band_plot(const CurveChart& chart, std::size_t c) {
  const std::string colour(series_colour(c));
  if (chart.curves[c].band.size() > 1 && chart.axis != CurveAxis::names)
    return fmt::format("$band{} using 1:2:3 with filledcurves fillcolor rgb '#c8{}' notitle", c,
                       colour.substr(1));
  return fmt::format(
      "$band{} using 1:2:2:3 with yerrorbars pointtype 0 linewidth 1.2 linecolor rgb "
      "'{}' notitle",
      c, colour);
}

std::string mark_lines(const CurveChart& chart) {
  std::string lines;
  for (const CurveMark& mark : chart.marks)
    lines += fmt::format("set arrow from {0:.10g}, graph 0 to {0:.10g}, graph 1 nohead back "
                         "linewidth 0.8 dashtype 3 linecolor rgb '#777777'\n"
                         "set label {1} at {0:.10g}, graph 0.02 left rotate by 90 "
                         "offset character 0.6, 0 font 'sans-serif,9' textcolor rgb '#555555'\n",
                         mark.x, gnuplot_quoted(mark.text));
  return lines;
}

std::string_view style_of(const CurveChart& chart, bool has_law) {
  if (chart.steps) return "steps";
  return has_law ? "points" : "linespoints";
}

/// The symbol of the c-th curve's points, where they are marked.
std::string mark_of(const CurveChart& chart, std::size_t c) {
  constexpr std::array marks{7, 5, 9, 13, 11, 6, 4, 8, 12, 10};
  return chart.steps ? "" : fmt::format(" pointtype {} pointsize 0.7", marks[c % marks.size()]);
}

/// The law at both ends of its curve: between them it is a straight line.
std::string law_data(const PowerLaw& law, const Curve& curve) {
  std::string data;
  for (const double x : {curve.points.front().x, curve.points.back().x})
    data += fmt::format("{:.10g} {:.6g}\n", x, law.factor * std::pow(x, law.exponent));
  return data;
}

} // namespace

Figure curve_figure(const CurveChart& chart) {
  const bool growth = !chart.growth_in.empty();
  Extent x, y;
  std::vector<std::string> legend;
  std::string data, bands, plots;
  const bool data_is_empty = std::all_of(chart.curves.begin(), chart.curves.end(),
                                         [](const Curve& curve) { return curve.points.empty(); });
  if (data_is_empty) throw InputError("a chart of curves needs at least one point");
  for (std::size_t c = 0; c < chart.curves.size(); ++c) {
    const Curve& curve = chart.curves[c];
    for (const PlotPoint& point : curve.points) {
      assert(point.x >= (chart.axis >= CurveAxis::linear ? 0 : 1) && std::isfinite(point.y));
      assert(point.y > 0 || !has_logarithmic_y(chart));
      x.add(point.x);
      y.add(point.y);
    }
    data += fmt::format("$curve{} << END\n{}END\n", c, points_data(curve));
    std::optional<PowerLaw> law;
    if (growth) law = fitted_power_law(curve.points);
    legend.push_back(law ? fmt::format("{}: {}^{:.2f}", curve.name, chart.growth_in, law->exponent)
                         : curve.name);
    plots += fmt::format("{}$curve{} using 1:2 with {} linewidth 2{} linecolor rgb '{}' title {}",
                         c == 0 ? "" : ", \\\n     ", c, style_of(chart, law.has_value()),
                         mark_of(chart, c), series_colour(c), gnuplot_quoted(legend.back()));
    if (!law) continue;
    data += fmt::format("$law{} << END\n{}END\n", c, law_data(*law, curve));
    plots += fmt::format(", \\\n     $law{} using 1:2 with lines linewidth 1 dashtype 2 linecolor "
                         "rgb '{}' notitle",
                         c, series_colour(c));
  }
  for (const CurveMark& mark : chart.marks) x.add(mark.x);
  const double least = has_logarithmic_y(chart) ? y.smallest / 1.5 : 0;
  for (std::size_t c = 0; c < chart.curves.size(); ++c) {
    if (chart.curves[c].band.empty()) continue;
    for (const CurveInterval& each : chart.curves[c].band) y.add(each.high);
    data += fmt::format("$band{} << END\n{}END\n", c, band_data(chart.curves[c], least));
    bands += band_plot(chart, c) + ", \\\n     ";
  }
  const std::string axes = x_axis(chart, x) + y_axis(chart, y) + mark_lines(chart);
  return framed_chart(chart.heading, plot_width(chart), legend,
                      axes + data + "plot " + bands + plots + "\n",
                      chart.y_tics.empty() ? 76 : 100);
}

} // namespace tutti
