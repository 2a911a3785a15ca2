#include "experiments/driver/sweep/report/pareto_figure.hpp"

#include "experiments/driver/figures/style.hpp"
#include "experiments/driver/sweep/report/cells.hpp"
#include "experiments/driver/sweep/report/choice_colours.hpp"
#include "experiments/driver/sweep/report/figure_axis.hpp"
#include "sim/ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tutti::sweep {

namespace {

constexpr std::size_t most_names = 20;
constexpr std::uint32_t nobody = no_index; // the series of names that share the grey

// Which series a row belongs to: a level of `name`, 0 without one, or nobody.
class ParetoSeries {
public:
  explicit ParetoSeries(const ParetoChart& chart) : name_(chart.name) {
    for (const FrontPoint& point : chart.front) {
      const std::uint32_t level = level_of(point.row);
      if (level != no_index) levels_.insert(level);
    }
    while (levels_.size() > most_names) levels_.erase(std::prev(levels_.end()));
  }
  [[nodiscard]] std::uint32_t of(std::uint32_t row) const {
    const std::uint32_t level = level_of(row);
    return levels_.contains(level) ? level : nobody;
  }
  [[nodiscard]] std::string title(std::uint32_t series) const {
    if (name_ == nullptr) return "on the front";
    return series == nobody ? "others" : display_text(name_->values[series]);
  }
  [[nodiscard]] std::string colour(std::uint32_t series) const {
    return series == nobody ? "#999999" : choice_colour(series);
  }

private:
  const Levels* name_;
  std::set<std::uint32_t> levels_;
  [[nodiscard]] std::uint32_t level_of(std::uint32_t row) const {
    return name_ == nullptr ? 0 : name_->of_row[row];
  }
};

// Beaten points by series, one for each small cell of the plot.
std::map<std::uint32_t, std::string> cloud_data(const ParetoChart& chart,
                                                const ParetoSeries& series, const FigureAxis& x,
                                                const FigureAxis& y) {
  std::set<std::uint32_t> on_front;
  for (const FrontPoint& point : chart.front) on_front.insert(point.row);
  std::set<std::pair<int, int>> taken;
  std::map<std::uint32_t, std::string> data;
  for (const Candidate& each : chart.candidates) {
    if (on_front.contains(each.row)) continue;
    const std::uint32_t s = series.of(each.row);
    if (!taken.emplace(x.cell(each.x, 140), y.cell(each.y, 80)).second) continue;
    data[s] += fmt::format("{:.6g} {:.6g}\n", x.scaled(each.x), y.scaled(each.y));
  }
  return data;
}

FigureAxis axis_of(const ParetoChart& chart, const ObjectiveValues& objective) {
  std::vector<double> values;
  values.reserve(chart.candidates.size());
  for (const Candidate& each : chart.candidates) values.push_back(objective.values[each.row]);
  return {objective.name, objective.unit, values, AxisScale::tight};
}

} // namespace

Figure pareto_figure(const ParetoChart& chart) {
  constexpr std::array marks{7, 5, 9, 13, 11};
  const FigureAxis x = axis_of(chart, chart.x), y = axis_of(chart, chart.y);
  const ParetoSeries series(chart);
  std::string data, plots, stairs;
  std::map<std::uint32_t, std::string> front;
  for (const FrontPoint& point : chart.front) {
    const std::string line = fmt::format("{:.6g} {:.6g}\n", x.scaled(chart.x.values[point.row]),
                                         y.scaled(chart.y.values[point.row]));
    stairs += line;
    front[series.of(point.row)] += line;
  }
  for (const auto& [s, lines] : cloud_data(chart, series, x, y)) {
    data += fmt::format("$cloud{} << END\n{}END\n", s, lines);
    plots += fmt::format("$cloud{} with points pointtype 7 pointsize 0.35 linecolor rgb '#a0{}' "
                         "notitle, \\\n     ",
                         s, series.colour(s).substr(1));
  }
  plots += fmt::format("$stairs with {} linewidth 1.2 linecolor rgb '#555555' notitle",
                       chart.x.maximise ? "fsteps" : "steps");
  std::vector<std::string> legend;
  for (const auto& [s, lines] : front) {
    legend.push_back(series.title(s));
    data += fmt::format("$front{} << END\n{}END\n", s, lines);
    plots +=
        fmt::format(", \\\n     $front{} with points pointtype {} pointsize 1 linewidth 1 "
                    "linecolor rgb '{}' title {}",
                    s, marks[s % marks.size()], series.colour(s), gnuplot_quoted(legend.back()));
  }
  const std::string note = fmt::format(
      "{} points, {} on the front; small dots are beaten. Better: {} and {}",
      chart.candidates.size(), chart.front.size(),
      chart.x.maximise ? "to the right" : "to the left", chart.y.maximise ? "up" : "down");
  return framed_chart({chart.title, note}, 560, legend,
                      x.commands('x') + y.commands('y') + data + "$stairs << END\n" + stairs +
                          "END\nplot " + plots + "\n",
                      100);
}

} // namespace tutti::sweep
