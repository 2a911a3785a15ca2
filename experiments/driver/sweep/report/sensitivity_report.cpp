// How much each parameter matters: a table, and a figure for each combination of `by`, with a bar
// for each parameter from the mean at its best value to that at its worst.
#include "experiments/driver/figures/chart.hpp"
#include "experiments/driver/figures/palette.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/sweep/analysis/cells.hpp"
#include "experiments/driver/sweep/analysis/sensitivity.hpp"
#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "experiments/driver/sweep/report/figure_axis.hpp"
#include "experiments/driver/sweep/report/report_row.hpp"
#include "sim/ids.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::sweep {

namespace {

// Sizes in points: this figure is a table with bars in it.
constexpr double row_height = 46, plot_width = 240, right = 180;

// Under the name of a parameter, so that the bar's ends can be read without the table.
std::string values_line(const ParameterSensitivity& each) {
  return each.levels < 2 ? "one value"
                         : fmt::format("best {}, worst {}", each.best.text, each.worst.text);
}

double left_width(const std::vector<ParameterSensitivity>& parameters) {
  std::size_t names = 0, values = 0;
  for (const ParameterSensitivity& each : parameters) {
    names = std::max(names, display_width(each.name));
    values = std::max(values, display_width(values_line(each)));
  }
  return 40 + std::max(7.0 * static_cast<double>(names), 6.0 * static_cast<double>(values));
}

std::string share_text(const ParameterSensitivity& each) {
  return each.share ? fmt::format("{:.1f} %", 100 * *each.share) : "-";
}

// "3.10x", or "0.25 s" for differences.
std::string effect_text(double effect, bool ratios, Unit unit) {
  return ratios ? times_text(effect) : display_text(effect, unit);
}

std::string equal_text(const ParameterSensitivity& each, const Sensitivity& all, Unit unit) {
  return each.equal_others.groups == 0 ? "-"
                                       : effect_text(each.equal_others.median, all.ratios, unit);
}

// The texts left and right of each bar, under titles.
void paint_texts(Canvas& canvas, const ChartFrame& frame,
                 const std::vector<ParameterSensitivity>& parameters, const Sensitivity& all,
                 const ObjectiveValues& objective) {
  const auto add = [&](const std::string& words, double x, double y, double font, int colour) {
    canvas.text(text_layer, {x, y}, words, font, colour, Anchor::right);
  };
  const double names = frame.left - 14, share = frame.right + 80, equal = frame.right + 175;
  for (const auto& [x, words] :
       {std::pair(share, std::pair("explains", "alone")), {equal, {"median, all", "else equal"}}}) {
    add(words.first, x, frame.top - 21, least_font, 0x666666);
    add(words.second, x, frame.top - 9, least_font, 0x666666);
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const double y = frame.top + (static_cast<double>(i) + 0.5) * row_height;
    add(parameters[i].name, names, y - 6, chart_font, 0x111111);
    add(values_line(parameters[i]), names, y + 8, least_font, 0x666666);
    add(share_text(parameters[i]), share, y, chart_font, 0x111111);
    add(equal_text(parameters[i], all, objective.unit), equal, y, chart_font, 0x111111);
  }
}

// Chart of the first 24 parameters, a bar each from its best to its worst mean. Pre: at least one
// parameter, and one point.
Figure sensitivity_figure(const std::string& title, const ObjectiveValues& objective,
                          const Sensitivity& sensitivity, const Sweep& sweep) {
  constexpr std::size_t most = 24;
  std::vector<ParameterSensitivity> parameters = sensitivity.parameters;
  std::erase_if(parameters, [](const ParameterSensitivity& each) {
    return !each.share && each.equal_others.groups == 0; // each value has one point
  });
  if (parameters.size() > most) parameters.resize(most);
  std::vector<double> ends;
  for (const ParameterSensitivity& each : parameters) {
    ends.push_back(each.best.mean);
    ends.push_back(each.worst.mean);
  }
  const char* const kind = sensitivity.ratios ? "geometric mean" : "mean";
  const FigureAxis axis(fmt::format("{} of {}", kind, objective.name), objective.unit, ends,
                        AxisScale::automatic);
  const Heading heading{
      title, case_note(sweep, fmt::format("{} points; disc: at the best value of the parameter, "
                                          "square: at the worst",
                                          sensitivity.points))};
  const double left = left_width(parameters);
  const int width = std::max(static_cast<int>(left + plot_width + right), heading_width(heading));
  const ChartFrame frame(heading, width, left, width - left - plot_width,
                         row_height * static_cast<double>(parameters.size()), 24);
  Canvas canvas = frame.canvas();
  const Plot plot(canvas, frame, axis.axis(), {});
  plot.paint_x(true);
  plot.name_x(axis.label());
  paint_texts(canvas, frame, parameters, sensitivity, objective);
  std::vector<std::vector<std::string>> data{
      {"parameter", "best value", "worst value", axis.label_with_unit(), "at worst"}};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    data.push_back({parameters[i].name, parameters[i].best.text, parameters[i].worst.text,
                    fmt::format("{:.6g}", axis.scaled(parameters[i].best.mean)),
                    fmt::format("{:.6g}", axis.scaled(parameters[i].worst.mean))});
    const Position best{plot.at_x(axis.scaled(parameters[i].best.mean)),
                        frame.top + (static_cast<double>(i) + 0.5) * row_height},
        worst{plot.at_x(axis.scaled(parameters[i].worst.mean)), best.y}, half{0, 0.19 * row_height};
    canvas.rectangle(curve_layer, Position{std::min(best.x, worst.x), best.y} - half,
                     Position{std::max(best.x, worst.x), best.y} + half, 0xc9d6e6);
    canvas.square(curve_layer + 1, worst, 3.4, series_colour(1));
    canvas.disc(curve_layer + 2, best, 4, series_colour(0));
  }
  return frame.figure(std::move(canvas), std::move(data));
}

// `first`: a point with the values of `by`.
ReportRow parameter_row(const ParameterSensitivity& each, const Sensitivity& all,
                        const std::vector<const Levels*>& by, std::uint32_t first, Unit unit) {
  const EqualOthers& equal = each.equal_others;
  const bool any = equal.groups > 0, known = each.share || any; // else each value has one point
  ReportRow row;
  for (const Levels* levels : by) row.add_level(*levels, first);
  row.add("parameter", {"parameter"}, each.name, each.name);
  row.add_count("levels", {"values", Align::right, 4}, each.levels);
  row.add("share", {"explains", Align::right}, each.share ? exact_text(*each.share) : "",
          share_text(each));
  for (const auto& [name, level] : {std::pair("best", &each.best), {"worst", &each.worst}}) {
    const std::string end = name;
    row.add(end + "_value", {end + " at", Align::right}, level->text, known ? level->text : "-");
    row.add_number(end + "_mean", {end + " mean", Align::right, 1}, unit,
                   known ? level->mean : std::nan(""));
  }
  const auto add = [&](const char* header, const char* title, std::uint8_t spare, double effect,
                       bool is_there) {
    row.add(header, {title, Align::right, spare}, is_there ? exact_text(effect) : "",
            is_there ? effect_text(effect, all.ratios, unit) : "-");
  };
  row.add("scale", {}, all.ratios ? "ratio" : "difference", "");
  add("effect", "effect", 0, each.effect, known);
  row.add_count("groups", {"groups", Align::right, 4}, equal.groups);
  add("least_effect", "all else equal: least", 3, equal.least, any);
  add("median_effect", "median", 2, equal.median, any);
  add("largest_effect", "largest", 3, equal.largest, any);
  return row;
}

// What decides, and what is left to decide for who can't choose that.
std::string conclusion_of(const Sensitivity& all, const ObjectiveValues& objective) {
  std::string text;
  for (const ParameterSensitivity& each : all.parameters) {
    if (!each.share) continue;
    if (text.empty())
      text = fmt::format("{} decides most about {}: alone it explains {}", each.name,
                         objective.name, share_text(each));
    else
      text += fmt::format(", {} {}", each.name, share_text(each));
  }
  if (text.empty()) return text;
  text += " of the variance.";
  std::string equal;
  for (const ParameterSensitivity& each : all.parameters)
    if (each.equal_others.groups > 0)
      equal += fmt::format("{}{} {}", equal.empty() ? "" : ", ", each.name,
                           equal_text(each, all, objective.unit));
  if (!equal.empty())
    text +=
        fmt::format(" From the best to the worst value, all else equal, in the median: {}.", equal);
  return text;
}

// The requested parameters, or else all that vary and aren't in `by`. Those of a zip are one: the
// first from which the others follow (the shape of a network, and not its name), or all together.
std::vector<std::string> analysed_parameters(const SensitivityAnalysis& analysis,
                                             AnalysedPoints& points) {
  if (!analysis.of.empty()) return analysis.of;
  std::vector<std::string> varied = points.varied_parameters(), names;
  const auto has = [](const std::vector<std::string>& known, const std::string& name) {
    return std::ranges::find(known, name) != known.end();
  };
  std::erase_if(varied, [&](const std::string& name) { return has(analysis.head.by, name); });
  while (!varied.empty()) {
    std::vector<std::string> zipped{varied.front()};
    for (const Axis& axis : points.sweep().axes)
      if (!axis.drawn && has(axis.names, varied.front())) {
        zipped = varied;
        std::erase_if(zipped, [&](const std::string& name) { return !has(axis.names, name); });
      }
    const auto chosen = std::ranges::find_if(zipped, [&](const std::string& name) {
      return std::ranges::all_of(
          zipped, [&](const std::string& other) { return points.follows(other, name); });
    });
    names.push_back(chosen == zipped.end() ? joined(zipped, ", ") : *chosen);
    std::erase_if(varied, [&](const std::string& name) { return has(zipped, name); });
  }
  return names;
}

} // namespace

AnalysisReport sensitivity_report(const SensitivityAnalysis& analysis, AnalysedPoints& points) {
  AnalysisReport report = begun_report("sensitivity", analysis.head, points);
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
  const std::vector<const Levels*> by = points.levels_of(analysis.head.by);
  parameter_row({}, {}, by, no_index, objective.unit).begin(report);
  const std::vector<std::string> parameters = analysed_parameters(analysis, points);
  const Grouping parts = points.grouped_by(analysis.head.by);
  std::vector<std::vector<std::uint32_t>> rows(parts.size());
  for (std::uint32_t row = 0; row < points.rows(); ++row)
    if (parts.of_row[row] != no_index) rows[parts.of_row[row]].push_back(row);
  for (std::size_t g = 0; g < parts.size(); ++g) {
    const std::uint32_t first = parts.first_row[g];
    const std::string part = values_text(by, first);
    const std::string place = begin_of_part(part);
    const Sensitivity result = sensitivity_of(points, objective, parameters, rows[g]);
    if (result.points == 0) {
      report.notes.push_back(place + "no point has a value.");
      continue;
    }
    // Failures are seldom spread evenly: a mean over what is left may compare different networks.
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
      parameter_row(each, result, by, first, objective.unit).append_to(report);
    if (result.parameters.empty()) continue;
    const std::string words = conclusion_of(result, objective);
    if (!words.empty()) report.conclusions.push_back(place + words);
    const std::string title = report.title_of(part, by, first);
    report.figures.push_back(
        {part, title, sensitivity_figure(title, objective, result, points.sweep())});
  }
  if (parameters.empty()) report.notes.emplace_back("No parameter varies.");
  limit_figures(report);
  return report;
}

} // namespace tutti::sweep
