// How much each parameter matters, as a table and a figure for each combination of `by`.
#include "experiments/driver/sweep/analysis/sensitivity.hpp"
#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "experiments/driver/sweep/report/cells.hpp"
#include "experiments/driver/sweep/report/sensitivity_figure.hpp"
#include "sim/ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti::sweep {

namespace {

void add_header(AnalysisReport& report, const std::vector<const Levels*>& by,
                const ObjectiveValues& objective) {
  std::vector<std::string> header;
  for (const Levels* each : by) {
    header.push_back(column_title(each->name, each->unit));
    report.table.columns.push_back({each->name});
  }
  header.insert(header.end(), {"parameter", "levels", "share", "best_value",
                               column_title("best_mean", objective.unit), "worst_value",
                               column_title("worst_mean", objective.unit), "scale", "effect",
                               "groups", "least_effect", "median_effect", "largest_effect"});
  report.table.columns.push_back({"parameter"});
  for (const char* title : {"values", "explains", "best at", "there", "worst at", "there ",
                            "effect", "all else equal: least", "median", "largest", "groups"})
    report.table.columns.push_back({title, Align::right});
  report.csv.push_back(std::move(header));
}

void add_row(AnalysisReport& report, const std::vector<const Levels*>& by, std::uint32_t row,
             const ObjectiveValues& objective, const Sensitivity& all,
             const ParameterSensitivity& each) {
  std::vector<std::string> exact, shown;
  for (const Levels* levels : by) {
    exact.push_back(exact_text(levels->values[levels->of_row[row]]));
    shown.push_back(display_text(levels->values[levels->of_row[row]]));
  }
  const EqualOthers& equal = each.equal_others;
  const bool any = equal.groups > 0, known = each.share || any; // else each value has one point
  const auto effect = [&](double value, bool there) {
    return there ? effect_text(value, all.ratios, objective.unit) : std::string("-");
  };
  const auto number = [](double value, bool there) {
    return there ? exact_text(value) : std::string();
  };
  exact.insert(exact.end(),
               {each.name, fmt::to_string(each.levels), each.share ? exact_text(*each.share) : "",
                each.best.text, number(each.best.mean, known), each.worst.text,
                number(each.worst.mean, known), all.ratios ? "ratio" : "difference",
                number(each.effect, known), fmt::to_string(equal.groups), number(equal.least, any),
                number(equal.median, any), number(equal.largest, any)});
  shown.insert(
      shown.end(),
      {each.name, fmt::to_string(each.levels),
       each.share ? fmt::format("{:.1f} %", 100 * *each.share) : "-", known ? each.best.text : "-",
       known ? display_text(each.best.mean, objective.unit) : "-", known ? each.worst.text : "-",
       known ? display_text(each.worst.mean, objective.unit) : "-", effect(each.effect, known),
       effect(equal.least, any), effect(equal.median, any), effect(equal.largest, any),
       fmt::to_string(equal.groups)});
  report.csv.push_back(std::move(exact));
  report.table.rows.push_back(std::move(shown));
}

// Those asked for, or all that vary and aren't in `by`; of two that are one to one in a zip (the
// name of a network, and its shape) the first.
std::vector<std::string> analysed_parameters(const SensitivityAnalysis& analysis,
                                             AnalysedPoints& points) {
  if (!analysis.of.empty()) return analysis.of;
  std::vector<std::string> names;
  const auto is_one_of = [](const std::vector<std::string>& known, const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  for (const std::string& name : points.varied_parameters()) {
    const bool is_named_twice = std::any_of(names.begin(), names.end(), [&](const auto& earlier) {
      return points.follows(name, earlier) && points.follows(earlier, name);
    });
    if (!is_named_twice && !is_one_of(analysis.head.by, name)) names.push_back(name);
  }
  return names;
}

} // namespace

AnalysisReport sensitivity_report(const SensitivityAnalysis& analysis, AnalysedPoints& points) {
  AnalysisReport report = begun_report("sensitivity", analysis.head);
  const ObjectiveValues& objective = points.objective(analysis.objective);
  report.explanation = fmt::format(
      "\"explains\": share of the variance (of the logarithm where all is positive) of {0} that "
      "the "
      "parameter explains alone (more than 8 numbers: 8 ranges with about as many points each). "
      "\"best at\" and \"worst at\": its values with the best and the worst (geometric) mean of "
      "{0}; "
      "\"effect\": their ratio, or difference. \"all else equal\": worst against best among points "
      "that differ in this parameter only.",
      objective.name);
  std::vector<const Levels*> by;
  for (const std::string& name : analysis.head.by) by.push_back(&points.levels(name));
  add_header(report, by, objective);
  const std::vector<std::string> parameters = analysed_parameters(analysis, points);
  const Grouping parts = points.grouped_by(analysis.head.by);
  std::vector<std::vector<std::uint32_t>> rows(parts.size());
  for (std::uint32_t row = 0; row < points.rows(); ++row)
    if (parts.of_row[row] != no_index) rows[parts.of_row[row]].push_back(row);
  for (std::size_t g = 0; g < parts.size(); ++g) {
    const std::uint32_t first = parts.first_row[g];
    const std::string part = values_text(by, first);
    const std::string place = part.empty() ? "" : part + ": ";
    const Sensitivity result = sensitivity_of(points, objective, parameters, rows[g]);
    if (result.points == 0) {
      report.notes.push_back(place + "no point has a value.");
      continue;
    }
    if (result.points < rows[g].size())
      report.notes.push_back(fmt::format(
          "{}{} of {} points have no result, so that means aren't over the same points everywhere: "
          "trust what is with all else equal.",
          place, rows[g].size() - result.points, rows[g].size()));
    if (!result.ratios)
      report.notes.push_back(fmt::format("{}{} isn't positive everywhere: plain means and "
                                         "differences instead of geometric means and ratios.",
                                         place, objective.name));
    for (const ParameterSensitivity& each : result.parameters)
      add_row(report, by, first, objective, result, each);
    if (result.parameters.empty()) continue;
    const std::string title = part.empty() ? report.title : report.title + ": " + part;
    report.figures.push_back({part, title, sensitivity_figure(title, objective, result)});
  }
  if (parameters.empty()) report.notes.emplace_back("No parameter varies.");
  limit_figures(report);
  return report;
}

} // namespace tutti::sweep
