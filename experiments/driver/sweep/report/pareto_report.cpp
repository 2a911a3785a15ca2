// Fronts of two objectives: a table of their points, and a figure for each combination of `by`,
// with the front on a staircase and the points that it beats behind it.
#include "experiments/driver/figures/choice_colours.hpp"
#include "experiments/driver/figures/style.hpp"
#include "experiments/driver/sweep/analysis/pareto_front.hpp"
#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "experiments/driver/sweep/report/cells.hpp"
#include "experiments/driver/sweep/report/figure_axis.hpp"
#include "sim/ids.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti::sweep {

namespace {

struct ParetoChart {
  std::string title;
  const ObjectiveValues& x;
  const ObjectiveValues& y;
  std::span<const Candidate> candidates; ///< all points
  std::span<const FrontPoint> front;     ///< ascending by x; at least one
  const Levels* name = nullptr;          ///< colours points; null: one colour
};

constexpr std::size_t most_names = 20;
constexpr std::uint32_t nobody = no_index; // the series of names that share the grey

// Which series a row belongs to: a level of `name`, 0 without one, or nobody.
// Only names with a point on the front get a colour: thousands of beaten variants would else use up
// all colours before the few that matter.
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
    // 140 by 80 cells: a dot more in one of them can't be seen, but a million dots make a page too
    // large to open.
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

// Axes are logarithmic where values are positive and spread over more than a factor of 30. Of
// points that lie closely together one is drawn. Names that have no point on the front, and those
// beyond the first 20, share a grey.
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
  // A point beats all that is worse in both: the staircase runs along the edge of what is beaten,
  // which depends on whether more or less of x is better.
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

struct ParetoColumns {
  std::vector<const Levels*> by;
  const Levels* name = nullptr;        ///< null: none
  std::vector<const Levels*> settings; ///< parameters that vary, but for `by` and `name`
};

ParetoColumns pareto_columns(const ParetoAnalysis& analysis, AnalysedPoints& points) {
  ParetoColumns columns;
  for (const std::string& name : analysis.head.by) columns.by.push_back(&points.levels(name));
  if (!analysis.name.empty()) columns.name = &points.levels(analysis.name);
  for (const std::string& name : points.varied_parameters()) {
    const Levels* levels = &points.levels(name);
    bool is_named = levels == columns.name;
    for (const Levels* each : columns.by) is_named = is_named || each == levels;
    if (!is_named) columns.settings.push_back(levels);
  }
  return columns;
}

std::vector<std::vector<Candidate>>
candidates_by_group(const Grouping& groups, const ObjectiveValues& x, const ObjectiveValues& y) {
  std::vector<std::vector<Candidate>> candidates(groups.size());
  for (std::uint32_t row = 0; row < groups.of_row.size(); ++row)
    if (groups.of_row[row] != no_index && x.has(row) && y.has(row))
      candidates[groups.of_row[row]].push_back({x.values[row], y.values[row], row});
  return candidates;
}

void add_header(AnalysisReport& report, const ParetoColumns& columns, const ObjectiveValues& x,
                const ObjectiveValues& y) {
  std::vector<std::string> header;
  const auto add = [&](const Levels& levels) {
    header.push_back(column_title(levels.name, levels.unit));
    report.table.columns.push_back({levels.name, levels.numeric() ? Align::right : Align::left});
  };
  for (const Levels* each : columns.by) add(*each);
  if (columns.name != nullptr) add(*columns.name);
  for (const ObjectiveValues* each : {&x, &y}) {
    header.push_back(column_title(each->name, each->unit));
    report.table.columns.push_back({each->name, Align::right});
  }
  header.emplace_back("points");
  report.table.columns.push_back({"points", Align::right});
  for (const Levels* each : columns.settings) add(*each);
  report.csv.push_back(std::move(header));
}

void add_row(AnalysisReport& report, const ParetoColumns& columns, const ObjectiveValues& x,
             const ObjectiveValues& y, const FrontPoint& point) {
  std::vector<std::string> exact, shown;
  const auto add = [&](const Levels& levels) {
    const std::uint32_t level = levels.of_row[point.row];
    exact.push_back(level == no_index ? "" : exact_text(levels.values[level]));
    shown.push_back(level == no_index ? "-" : display_text(levels.values[level]));
  };
  for (const Levels* each : columns.by) add(*each);
  if (columns.name != nullptr) add(*columns.name);
  for (const ObjectiveValues* each : {&x, &y}) {
    exact.push_back(exact_text(each->values[point.row]));
    shown.push_back(display_text(each->values[point.row], each->unit));
  }
  exact.push_back(fmt::to_string(point.equals));
  shown.push_back(fmt::to_string(point.equals));
  for (const Levels* each : columns.settings) add(*each);
  report.csv.push_back(std::move(exact));
  report.table.rows.push_back(std::move(shown));
}

std::string direction(const ObjectiveValues& objective) {
  return objective.maximise ? "largest" : "least";
}

} // namespace

AnalysisReport pareto_report(const ParetoAnalysis& analysis, AnalysedPoints& points) {
  AnalysisReport report = begun_report("pareto", analysis.head);
  const ObjectiveValues& x = points.objective(analysis.x);
  const ObjectiveValues& y = points.objective(analysis.y);
  report.explanation =
      fmt::format("Points that no other beats in both: {} {} and {} {}. \"points\" counts those "
                  "with the same values; the first stands for them.",
                  direction(x), x.name, direction(y), y.name);
  const ParetoColumns columns = pareto_columns(analysis, points);
  add_header(report, columns, x, y);
  const Grouping groups = points.grouped_by(analysis.head.by);
  const auto candidates = candidates_by_group(groups, x, y);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::vector<FrontPoint> front = pareto_front(candidates[g], x.maximise, y.maximise);
    for (const FrontPoint& point : front) add_row(report, columns, x, y, point);
    const std::string part = values_text(columns.by, groups.first_row[g]);
    if (front.empty()) {
      if (!part.empty()) report.notes.push_back("No point has both values: " + part + ".");
      continue;
    }
    const std::string title = part.empty() ? report.title : report.title + ": " + part;
    report.figures.push_back(
        {part, title, pareto_figure({title, x, y, candidates[g], front, columns.name})});
  }
  limit_figures(report);
  return report;
}

} // namespace tutti::sweep
