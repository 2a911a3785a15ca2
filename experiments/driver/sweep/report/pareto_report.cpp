// Fronts of two objectives: a table of their points, and a figure for each combination of `by`.
#include "experiments/driver/figures/style.hpp"
#include "experiments/driver/sweep/analysis/pareto_front.hpp"
#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "experiments/driver/sweep/report/cells.hpp"
#include "experiments/driver/sweep/report/pareto_figure.hpp"
#include "sim/ids.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti::sweep {

namespace {

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
