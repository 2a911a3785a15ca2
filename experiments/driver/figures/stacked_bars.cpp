// Bars lie on their sides, as their names and those of their groups are words, of which few find
// room side by side: fifty bars are a tall picture that can be read, not one five pages wide. A
// part has the same colour in all pictures of one kind, whether others are seen there or not.
#include "experiments/driver/figures/stacked_bars.hpp"

#include "experiments/driver/figures/chart.hpp"
#include "experiments/driver/figures/palette.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

namespace tutti {

namespace {

// In points.
constexpr double row_height = 21, half_bar = 7.5, group_gap = 8, bar_font = 11, legend_row = 18;

double total_of(const StackedBar& bar) {
  return std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0);
}

struct PlacedBar {
  double y; ///< of its middle, from the plot's upper edge down
  const StackedBar* bar;
};
struct PlacedName {
  double y;
  std::string name;
};

// A group's name has a row of its own above its bars.
struct StackLayout {
  std::vector<PlacedBar> bars;
  std::vector<PlacedName> groups;
  double height = 0;
  double names = 0; ///< width of the widest

  explicit StackLayout(const StackedChart& chart) {
    for (const StackedGroup& group : chart.groups) {
      height += group_gap;
      if (!group.name.empty()) {
        groups.push_back({height + row_height / 2, group.name});
        height += row_height - 2;
      }
      for (const StackedBar& bar : group.bars) {
        assert(bar.parts.empty() || bar.parts.size() == chart.parts.size());
        bars.push_back({height + row_height / 2, &bar});
        names = std::max(names, text_width(bar.name, bar_font));
        height += row_height;
      }
    }
    height += group_gap;
  }
};

// Parts that are nowhere more than 0 have no place in the legend.
bool is_seen(const StackLayout& layout, std::size_t part) {
  return std::ranges::any_of(layout.bars, [part](const PlacedBar& each) {
    return !each.bar->parts.empty() && each.bar->parts[part] > 0;
  });
}

/// Places of the legend's entries above the plot, in rows.
struct LegendPlaces {
  struct Entry {
    std::size_t part;
    double x, y; ///< from the legend's upper left corner
  };
  std::vector<Entry> entries;
  double height = 0;

  LegendPlaces(const StackedChart& chart, const StackLayout& layout, double width) {
    double x = 0, y = 0;
    for (std::size_t part = 0; part < chart.parts.size(); ++part) {
      if (!is_seen(layout, part)) continue;
      const double needed = 22 + text_width(chart.parts[part], bar_font) + 14;
      if (x > 0 && x + needed > width) {
        x = 0;
        y += legend_row;
      }
      entries.push_back({part, x, y});
      x += needed;
    }
    height = entries.empty() ? 0 : y + legend_row + 6;
  }
};

std::vector<std::vector<std::string>> data_of(const StackedChart& chart) {
  std::vector<std::vector<std::string>> rows{{"part", "group", "bar", chart.value_label}};
  for (const StackedGroup& group : chart.groups)
    for (const StackedBar& bar : group.bars)
      for (std::size_t part = 0; part < bar.parts.size(); ++part)
        if (bar.parts[part] != 0)
          rows.push_back(
              {chart.parts[part], group.name, bar.name, fmt::format("{:.6g}", bar.parts[part])});
  return rows;
}

} // namespace

Figure stacked_bar_figure(const StackedChart& chart) {
  const StackLayout layout(chart);
  double largest = -1;
  for (const auto& [y, bar] : layout.bars)
    if (!bar->parts.empty()) largest = std::max(largest, total_of(*bar));
  if (largest < 0) throw InputError("a chart of stacked bars needs at least one bar");

  constexpr double least_plot = 240, right = 24, before_names = 32, edge = FigureFrame::margin;
  const int width = figure_width(least_plot + right + before_names, layout.names);
  const double left = std::max(48.0, text_scale(width) * layout.names + before_names);
  const LegendPlaces legend(chart, layout, width - 40.0);
  const ChartFrame frame(chart.heading, width, left, right, layout.height, legend.height);
  Canvas canvas = frame.canvas();
  const Plot plot(canvas, frame, {0, (largest > 0 ? largest : 1) * 1.12}, {});
  plot.paint_x(true);
  plot.name_x(chart.value_label);
  for (const auto& [part, right_by, down] : legend.entries) {
    const Position at{edge + right_by, frame.top - legend.height + down};
    canvas.rectangle(text_layer, at - Position{0, 6}, at + Position{14, 6}, choice_colour(part));
    canvas.text(text_layer, at + Position{20, 0}, chart.parts[part], bar_font, 0, Anchor::left);
  }
  for (const auto& [y, name] : layout.groups)
    canvas.text(text_layer, {edge, frame.top + y}, name, bar_font, 0x111111, Anchor::left);
  for (const auto& [down, bar] : layout.bars) {
    const double y = frame.top + down;
    double end = 0;
    for (std::size_t part = 0; part < bar->parts.size(); ++part) {
      if (bar->parts[part] == 0) continue;
      canvas.rectangle(curve_layer, {plot.at_x(end), y - half_bar},
                       {plot.at_x(end + bar->parts[part]), y + half_bar}, choice_colour(part));
      end += bar->parts[part];
    }
    canvas.text(text_layer, {frame.left - 8, y}, bar->name, bar_font, ink, Anchor::right);
    canvas.text(text_layer, {plot.at_x(end) + 5, y}, bar->parts.empty() ? "n/a" : three_digits(end),
                10, tic_ink, Anchor::left);
  }
  return frame.figure(std::move(canvas), data_of(chart));
}

} // namespace tutti
