// Bars are as wide as the number of groups and series allows; values on top of them stand upright
// where they would run into each other.
#include "experiments/driver/figures/bars.hpp"

#include "experiments/driver/figures/chart.hpp"
#include "experiments/driver/figures/extent.hpp"
#include "experiments/driver/figures/palette.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace tutti {

namespace {

constexpr PointMark paper_mark{PointMark::Shape::diamond};

Extent extent_of(const BarChart& chart) {
  Extent extent;
  for (const BarGroup& group : chart.groups) {
    assert(group.values.size() == chart.series.size());
    for (const double value : group.values)
      if (!std::isnan(value)) extent.add(value);
    for (const double value : group.printed)
      if (!std::isnan(value)) extent.add(value);
    if (!std::isnan(group.bound)) extent.add(group.bound);
  }
  if (!std::isfinite(extent.smallest)) throw InputError("a bar chart needs at least one value");
  return extent;
}

/// Sizes in points; labels stand upright over bars that are too narrow for them. All bars share the
/// width that a page leaves them; their groups are wider, or their names slanted, where these need
/// it.
struct BarLayout {
  double bar, group; ///< widths; a group's includes the gap to the next
  double names = 0;  ///< the widest, of groups
  bool upright, slanted;

  explicit BarLayout(const BarChart& chart) {
    constexpr double of_group = 0.84, widest_value = 30; // "0.123"
    const double series = static_cast<double>(chart.series.size());
    const double groups = static_cast<double>(chart.groups.size());
    double legend = 0;
    for (const std::string& each : chart.series) legend = std::max(legend, text_width(each, 11));
    for (const BarGroup& each : chart.groups) names = std::max(names, text_width(each.name, 11));
    const double room =
        std::max(chart.heading.page - 144 - legend, std::min(300.0, 0.5 * chart.heading.page));
    bar = std::clamp(of_group * room / (series * groups), 16.0, 80.0);
    upright = bar < widest_value;
    group = series * bar / of_group;
    slanted = names + 12 > group && groups * (names + 12) > room;
    if (!slanted) group = std::max(group, names + 12);
  }
};

PlotAxis value_axis(const BarChart& chart, const Extent& extent, const BarLayout& layout) {
  if (chart.logarithmic) {
    assert(extent.smallest > 0);
    return {std::pow(10, std::floor(std::log10(0.9 * extent.smallest))),
            extent.largest * (layout.upright ? 4 : 2), true};
  }
  return {0, (extent.largest > 0 ? extent.largest : 1) * (layout.upright ? 1.25 : 1.1)};
}

std::vector<std::vector<std::string>> data_of(const BarChart& chart) {
  std::vector<std::vector<std::string>> rows{{"series", "group", chart.y_label}};
  for (const BarGroup& group : chart.groups)
    for (std::size_t s = 0; s < chart.series.size(); ++s)
      if (!std::isnan(group.values[s]))
        rows.push_back({chart.series[s], group.name, fmt::format("{:.6g}", group.values[s])});
  for (const BarGroup& group : chart.groups)
    for (std::size_t s = 0; s < group.printed.size(); ++s)
      if (!std::isnan(group.printed[s]))
        rows.push_back(
            {chart.series[s] + ", paper", group.name, fmt::format("{:.6g}", group.printed[s])});
  for (const BarGroup& group : chart.groups)
    if (!std::isnan(group.bound))
      rows.push_back({"bound", group.name, fmt::format("{:.6g}", group.bound)});
  return rows;
}

} // namespace

Figure bar_figure(const BarChart& chart) {
  const Extent extent = extent_of(chart);
  const BarLayout layout(chart);
  const double groups = static_cast<double>(chart.groups.size());
  double legend = 0;
  for (const std::string& each : chart.series) legend = std::max(legend, text_width(each, 11));
  constexpr double left = 76, beside_legend = 64;
  const int width = figure_width(
      std::max(std::min(300.0, 0.5 * chart.heading.page), layout.group * groups) + beside_legend,
      left + legend, chart.heading.page);
  const double scale = text_scale(width, chart.heading.page);
  const ChartFrame frame(chart.heading, width, scale * left, beside_legend + scale * legend,
                         std::max(270.0, 20 * scale * static_cast<double>(chart.series.size() + 2)),
                         0, layout.slanted ? 0.6 * scale * layout.names - 14 : -14);
  Canvas canvas = frame.canvas();
  PlotAxis names{-0.5, groups - 0.5};
  for (const BarGroup& each : chart.groups)
    names.tics.push_back({static_cast<double>(names.tics.size()), each.name});
  const Plot plot(canvas, frame, std::move(names), value_axis(chart, extent, layout));
  plot.paint_x(false, chart_font, layout.slanted);
  plot.paint_y(true);
  plot.name_y(chart.y_label);

  const auto place_of_entry = [&](std::size_t entry) { // of the legend
    return Position{frame.right + 16, frame.top + scale * (4 + 19 * static_cast<double>(entry))};
  };
  const std::vector<std::size_t> hues = series_hues(chart.series);
  bool has_printed = false;
  const double middle = (static_cast<double>(chart.series.size()) - 1) / 2;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const int colour = choice_colour(hues[s]);
    for (std::size_t g = 0; g < chart.groups.size(); ++g) {
      const double value = chart.groups[g].values[s];
      const double x = plot.at_x(static_cast<double>(g)) + (static_cast<double>(s) - middle) *
                                                               layout.bar * plot.unit_x() /
                                                               layout.group;
      // Without a value the text stands on the axis.
      double top = std::isnan(value) ? frame.bottom : plot.at_y(value);
      const double half = 0.46 * layout.bar * plot.unit_x() / layout.group;
      if (!std::isnan(value))
        canvas.rectangle(curve_layer, {x - half, top}, {x + half, frame.bottom}, colour);
      if (const std::vector<double>& printed = chart.groups[g].printed;
          !printed.empty() && !std::isnan(printed[s])) {
        has_printed = true;
        const double y = plot.at_y(printed[s]);
        paint_mark(canvas, curve_layer + 2, {x, y}, paper_mark, 4, 0x111111);
        const double label = layout.upright ? 46 : 24;
        if (y > top - label * scale) top = std::min(top, y - 5); // the value stands above both
      }
      canvas.text(text_layer, {x, top - (layout.upright ? 4 : 8 * scale)},
                  std::isnan(value) ? "n/a" : three_digits(value), 10, tic_ink,
                  layout.upright ? Anchor::left : Anchor::middle, layout.upright ? 90 : 0);
    }
    const Position entry = place_of_entry(s);
    canvas.rectangle(text_layer, entry - Position{0, 5}, entry + Position{20, 5}, colour);
    canvas.text(text_layer, entry + Position{27, 0}, chart.series[s], chart_font, 0, Anchor::left);
  }
  std::size_t entries = chart.series.size();
  if (has_printed) {
    const Position entry = place_of_entry(entries++);
    paint_mark(canvas, text_layer, entry + Position{10, 0}, paper_mark, 4, 0x111111);
    canvas.text(text_layer, entry + Position{27, 0}, "paper", chart_font, 0, Anchor::left);
  }
  bool has_bound = false;
  const double half = 0.5 * static_cast<double>(chart.series.size()) * layout.bar / layout.group;
  for (std::size_t g = 0; g < chart.groups.size(); ++g) {
    const double bound = chart.groups[g].bound, x = static_cast<double>(g);
    if (std::isnan(bound)) continue;
    has_bound = true;
    canvas.line(curve_layer + 1, plot.at(x - half, bound), plot.at(x + half, bound), 0x111111, 1.4,
                "5 3");
  }
  if (has_bound) {
    const Position entry = place_of_entry(entries);
    canvas.line(text_layer, entry, entry + Position{20, 0}, 0x111111, 1.4, "5 3");
    canvas.text(text_layer, entry + Position{27, 0}, "bound", chart_font, 0, Anchor::left);
  }
  return frame.figure(std::move(canvas), data_of(chart));
}

} // namespace tutti
