// Each part is drawn as a box from the axis up to the sum so far, the highest first: what is seen
// of it is its own share.
#include "experiments/driver/figures/stacked_bars.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

namespace tutti {

namespace {

constexpr double bar_width = 0.72; // of the distance of two bars; a group ends with one unit more

double total_of(const StackedBar& bar) {
  return std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0);
}

/// Where each bar stands, in units of bars.
struct PlacedBar {
  double x;
  const StackedBar* bar;
};

struct StackLayout {
  std::vector<PlacedBar> bars;
  std::vector<double> middles; ///< of groups
  double end = 0;
  std::size_t longest_name = 0, longest_group = 0;

  explicit StackLayout(const StackedChart& chart) {
    for (const StackedGroup& group : chart.groups) {
      const double begin = end;
      for (const StackedBar& bar : group.bars) {
        assert(bar.parts.empty() || bar.parts.size() == chart.parts.size());
        bars.push_back({end, &bar});
        longest_name = std::max(longest_name, bar.name.size());
        end += 1;
      }
      middles.push_back((begin + end - 1) / 2);
      longest_group = std::max(longest_group, group.name.size());
      end += 1;
    }
    end -= 1;
  }
  /// Points.
  [[nodiscard]] double bar_distance(std::size_t groups) const {
    const double per_group =
        static_cast<double>(bars.size() + groups) / static_cast<double>(groups);
    return std::max({34.0, 6.5 * static_cast<double>(longest_name) + 8,
                     (7.5 * static_cast<double>(longest_group) + 14) / per_group});
  }
};

/// "x height" of each bar up to and with a part.
std::string part_data(const StackLayout& layout, std::size_t part) {
  std::string data;
  for (const auto& [x, bar] : layout.bars) {
    if (bar->parts.empty()) continue;
    const auto end = bar->parts.begin() + static_cast<std::ptrdiff_t>(part) + 1;
    data += fmt::format("{:.3f} {:.6g}\n", x, std::accumulate(bar->parts.begin(), end, 0.0));
  }
  return data;
}

std::string total_data(const StackLayout& layout) {
  std::string data;
  for (const auto& [x, bar] : layout.bars)
    data += bar->parts.empty() ? fmt::format("{:.3f} 0 n/a\n", x)
                               : fmt::format("{:.3f} {:.6g} {}\n", x, total_of(*bar),
                                             three_digits(total_of(*bar)));
  return data;
}

std::string names_of(const StackedChart& chart, const StackLayout& layout) {
  std::vector<AxisTic> names;
  for (const auto& [x, bar] : layout.bars) names.push_back({x, bar->name});
  std::string text = fmt::format("set xtics scale 0 ({})\n", tics_text(names));
  for (std::size_t g = 0; g < chart.groups.size(); ++g)
    text += fmt::format("set label {} {} at first {:.3f}, graph 0 offset 0, -2.2 center "
                        "font 'sans-serif,11' textcolor rgb '#111111'\n",
                        10 + g, gnuplot_quoted(chart.groups[g].name), layout.middles[g]);
  return text;
}

} // namespace

Figure stacked_bar_figure(const StackedChart& chart) {
  const StackLayout layout(chart);
  double largest = -1;
  for (const auto& [x, bar] : layout.bars)
    if (!bar->parts.empty()) largest = std::max(largest, total_of(*bar));
  if (largest < 0) throw InputError("a chart of stacked bars needs at least one bar");

  std::string data, plots;
  // The highest first: each lower part is drawn over it.
  for (std::size_t part = chart.parts.size(); part-- > 0;) {
    data += fmt::format("$part{} << END\n{}END\n", part, part_data(layout, part));
    plots += fmt::format("{}$part{} using 1:2:({}) with boxes fillstyle solid noborder linecolor "
                         "rgb '{}' title {}",
                         plots.empty() ? "plot " : ", \\\n     ", part, bar_width,
                         series_colour(part), gnuplot_quoted(chart.parts[part]));
  }
  data += fmt::format("$totals << END\n{}END\n", total_data(layout));
  plots +=
      ", \\\n     $totals using 1:2:3 with labels offset 0, 0.6 font 'sans-serif,10' textcolor "
      "rgb '#333333' notitle";
  const std::string axes = fmt::format(
      "set xrange [-0.8:{:.3f}]\nset yrange [0:{:g}]\nset ylabel {} offset 0.5, 0\n",
      layout.end - 0.2, (largest > 0 ? largest : 1) * 1.1, gnuplot_quoted(chart.y_label));
  const double distance = layout.bar_distance(chart.groups.size());
  const int width = static_cast<int>(std::max(300.0, distance * (layout.end + 0.6)));
  return framed_chart(chart.heading, width, chart.parts,
                      names_of(chart, layout) + axes + data + plots + "\n");
}

} // namespace tutti
