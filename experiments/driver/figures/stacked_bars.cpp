// Bars lie on their sides, as their names and those of their groups are words, of which few find
// room side by side: fifty bars are a tall picture that can be read, not one five pages wide. Each
// part is a box of its own, and everything has its place in points. A part has the same colour in
// all pictures of one kind, whether others are seen there or not.
#include "experiments/driver/figures/stacked_bars.hpp"

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

/// "x y x_low x_high y_low y_high" of each bar's part.
std::string part_data(const StackLayout& layout, std::size_t part) {
  std::string data;
  for (const auto& [y, bar] : layout.bars) {
    if (bar->parts.empty() || bar->parts[part] == 0) continue;
    const auto begin = bar->parts.begin();
    const double low = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(part), 0.0);
    data += fmt::format("{0:.6g} {1:.1f} {0:.6g} {2:.6g} {3:.1f} {4:.1f}\n", low, y,
                        low + bar->parts[part], y - half_bar, y + half_bar);
  }
  return data;
}

std::string total_data(const StackLayout& layout) {
  std::string data;
  for (const auto& [y, bar] : layout.bars)
    data += bar->parts.empty() ? fmt::format("0 {:.1f} n/a\n", y)
                               : fmt::format("{:.6g} {:.1f} {}\n", total_of(*bar), y,
                                             three_digits(total_of(*bar)));
  return data;
}

std::string texts_of(const StackedChart& chart, const StackLayout& layout,
                     const LegendPlaces& legend, const ChartFrame& frame) {
  std::string text;
  for (const auto& [y, bar] : layout.bars)
    text += fmt::format("set label {} at {} right textcolor rgb '#222222'\n",
                        gnuplot_quoted(bar->name), frame.screen(frame.left - 8, frame.top + y));
  for (const auto& [y, name] : layout.groups)
    text += fmt::format("set label {} at {} left textcolor rgb '#111111'\n", gnuplot_quoted(name),
                        frame.screen(16, frame.top + y));
  for (const auto& [part, right, down] : legend.entries) {
    const double x = 16 + right, y = frame.top - legend.height + down;
    text += fmt::format("set object rectangle from {} to {} fillstyle solid noborder fillcolor rgb "
                        "'{}'\nset label {} at {} left\n",
                        frame.screen(x, y - 6), frame.screen(x + 14, y + 6), choice_colour(part),
                        gnuplot_quoted(chart.parts[part]), frame.screen(x + 20, y));
  }
  return text + fmt::format("set label {} at {} center\n", gnuplot_quoted(chart.value_label),
                            frame.screen((frame.left + frame.right) / 2, frame.bottom + 34));
}

} // namespace

Figure stacked_bar_figure(const StackedChart& chart) {
  const StackLayout layout(chart);
  double largest = -1;
  for (const auto& [y, bar] : layout.bars)
    if (!bar->parts.empty()) largest = std::max(largest, total_of(*bar));
  if (largest < 0) throw InputError("a chart of stacked bars needs at least one bar");

  constexpr double least_plot = 240, right = 24, before_names = 32;
  const int width = figure_width(least_plot + right + before_names, layout.names);
  const double left = std::max(48.0, text_scale(width) * layout.names + before_names);
  const LegendPlaces legend(chart, layout, width - 40.0);
  const ChartFrame frame(chart.heading, width, left, right, layout.height, legend.height);
  std::string data, plots;
  for (std::size_t part = 0; part < chart.parts.size(); ++part) {
    if (!is_seen(layout, part)) continue;
    data += fmt::format("$part{} << END\n{}END\n", part, part_data(layout, part));
    plots += fmt::format("$part{} using 1:2:3:4:5:6 with boxxyerror fillstyle solid noborder "
                         "linecolor rgb '{}', \\\n     ",
                         part, choice_colour(part));
  }
  data += fmt::format("$totals << END\n{}END\n", total_data(layout));
  const std::string axes = fmt::format(
      "set border 1\nunset key\nunset ytics\n{}set xrange [0:{:.6g}]\nset yrange [{:.1f}:0]\n"
      "set grid xtics back linetype 1 linecolor rgb '#dddddd' linewidth 0.8\n",
      frame.margins(), (largest > 0 ? largest : 1) * 1.12, layout.height);
  return {figure_style(chart.heading, frame.width) + axes + texts_of(chart, layout, legend, frame) +
              data + "plot " + plots +
              "$totals using 1:2:3 with labels left offset 0.5, 0 font 'sans-serif,10' textcolor "
              "rgb '#333333'\n",
          frame.width, frame.height, text_scale(width)};
}

} // namespace tutti
