// gnuplot's own clustered histograms know neither values on top of bars nor bars without a value:
// each bar here is a box with a place of its own, as wide as the number of groups and series
// allows.
#include "experiments/driver/figures/bars.hpp"

#include "experiments/driver/figures/extent.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tutti {

namespace {

Extent extent_of(const BarChart& chart) {
  Extent extent;
  for (const BarGroup& group : chart.groups) {
    assert(group.values.size() == chart.series.size());
    for (const double value : group.values)
      if (!std::isnan(value)) extent.add(value);
  }
  if (!std::isfinite(extent.smallest)) throw InputError("a bar chart needs at least one value");
  return extent;
}

/// Sizes in points; labels stand upright over bars that are too narrow for them. All bars share the
/// width that a page leaves them, as long as their groups have room for their names.
struct BarLayout {
  double bar, group; ///< widths; a group's includes the gap to the next
  bool upright;

  explicit BarLayout(const BarChart& chart) {
    constexpr double of_group = 0.84, widest_value = 30; // "0.123"
    const double series = static_cast<double>(chart.series.size());
    const double groups = static_cast<double>(chart.groups.size());
    double legend = 0, names = 0;
    for (const std::string& each : chart.series) legend = std::max(legend, text_width(each, 11));
    for (const BarGroup& each : chart.groups) names = std::max(names, text_width(each.name, 11));
    const double room = std::max(page_width - 144 - legend, 300.0);
    bar = std::clamp(of_group * room / (series * groups), 16.0, 80.0);
    upright = bar < widest_value;
    group = std::max(series * bar / of_group, names + 12);
  }
};

std::string y_range(const BarChart& chart, const Extent& extent, const BarLayout& layout) {
  if (chart.logarithmic) {
    assert(extent.smallest > 0);
    return fmt::format("set logscale y\nunset mytics\nset yrange [{:g}:{:g}]\n",
                       std::pow(10, std::floor(std::log10(0.9 * extent.smallest))),
                       extent.largest * (layout.upright ? 4 : 2));
  }
  const double top = extent.largest > 0 ? extent.largest : 1;
  return fmt::format("set yrange [0:{:g}]\n", top * (layout.upright ? 1.25 : 1.1));
}

/// "x value text" for each bar of one series; without a value the text stands on the axis, where a
/// NaN would leave nothing.
std::string series_data(const BarChart& chart, std::size_t series, const BarLayout& layout) {
  const double middle = (static_cast<double>(chart.series.size()) - 1) / 2;
  std::string data;
  for (std::size_t g = 0; g < chart.groups.size(); ++g) {
    const double x =
        static_cast<double>(g) + (static_cast<double>(series) - middle) * layout.bar / layout.group;
    const double value = chart.groups[g].values[series];
    data += std::isnan(value) ? fmt::format("{:.5f} NaN n/a\n", x)
                              : fmt::format("{:.5f} {:.6g} {}\n", x, value, three_digits(value));
  }
  return data;
}

} // namespace

Figure bar_figure(const BarChart& chart) {
  const Extent extent = extent_of(chart);
  const BarLayout layout(chart);
  std::string data, bars, labels;
  const std::vector<std::size_t> hues = series_hues(chart.series);
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    data += fmt::format("$series{} << END\n{}END\n", s, series_data(chart, s, layout));
    bars += fmt::format("{}$series{} using 1:2:({:.5f}) with boxes fillstyle solid noborder "
                        "linecolor rgb '{}' title {}",
                        s == 0 ? "plot " : ", \\\n     ", s, 0.92 * layout.bar / layout.group,
                        choice_colour(hues[s]), gnuplot_quoted(chart.series[s]));
    labels += fmt::format(", \\\n     $series{} using 1:(valid(2) ? $2 : floor_y):3 with labels {} "
                          "font 'sans-serif,10' textcolor rgb '#333333' notitle",
                          s, layout.upright ? "rotate left offset 0, 0.4" : "offset 0, 0.6");
  }
  std::vector<AxisTic> names;
  for (const BarGroup& each : chart.groups)
    names.push_back({static_cast<double>(names.size()), each.name});

  const double groups = static_cast<double>(chart.groups.size());
  const std::string axes =
      y_range(chart, extent, layout) +
      fmt::format("floor_y = {:g}\nset xrange [-0.5:{}]\nset xtics scale 0 ({})\n"
                  "set ylabel {} offset 0.5, 0\n",
                  chart.logarithmic ? extent.smallest : 0.0, groups - 0.5, tics_text(names),
                  gnuplot_quoted(chart.y_label));
  const int width = static_cast<int>(std::max(300.0, layout.group * groups));
  return framed_chart(chart.heading, width, chart.series, axes + data + bars + labels + "\n");
}

} // namespace tutti
