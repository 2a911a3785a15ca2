// Curves: a table of their points, and a figure for each combination of `by`.
#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/sweep/analysis/cells.hpp"
#include "experiments/driver/sweep/analysis/curve_values.hpp"
#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "experiments/driver/sweep/report/figure_axis.hpp"
#include "experiments/driver/sweep/report/report_row.hpp"
#include "sim/ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

namespace tutti::sweep {

namespace {

struct CurveColumns {
  std::vector<const Levels*> by;
  const Levels* series = nullptr; ///< null: one curve
  const Levels* x = nullptr;
  std::vector<const Levels*> settings; ///< parameters that are chosen; none with repetitions
  bool replicates = false, relative = false;
  std::string quantile;   ///< "p90"; empty: figures show means
  std::string value_name; ///< "time", "time over torus"
  Unit unit = Unit::none;
};

CurveColumns curve_columns(const CurvesAnalysis& analysis, AnalysedPoints& points) {
  CurveColumns columns;
  const ObjectiveValues& objective = points.objective(analysis.objective);
  columns.by = points.levels_of(analysis.head.by);
  if (!analysis.series.empty()) columns.series = &points.levels(analysis.series);
  columns.x = &points.levels(analysis.x);
  columns.replicates = !analysis.replicates.empty();
  columns.relative = !analysis.relative_to.empty();
  if (analysis.quantile > 0) columns.quantile = fmt::format("p{:.6g}", 100 * analysis.quantile);
  columns.value_name =
      columns.relative ? objective.name + " over " + analysis.relative_to : objective.name;
  columns.unit = columns.relative ? Unit::none : objective.unit;
  if (columns.replicates) return columns;
  std::vector<const Levels*> named = columns.by;
  named.insert(named.end(), {columns.series, columns.x});
  columns.settings = points.varied_but(named);
  return columns;
}

ReportRow curve_row(const CurveCell& cell, const CurveColumns& columns) {
  ReportRow row;
  for (const Levels* each : columns.by) row.add_level(*each, cell.first_row);
  if (columns.series != nullptr) row.add_level(*columns.series, cell.first_row);
  row.add_level(*columns.x, cell.first_row);
  const std::string& name = columns.value_name;
  if (!columns.replicates) {
    row.add_number(name, {name, Align::right}, columns.unit, cell.value);
    for (const Levels* each : columns.settings) row.add_level(*each, cell.row);
    return row;
  }
  const double none = std::nan("");
  ReplicateSummary summary;
  summary.mean = summary.median = summary.least = summary.largest = none;
  if (cell.summary) summary = *cell.summary;
  const Interval mean = summary.mean_interval.value_or(Interval{none, none});
  const Interval median = summary.median_interval.value_or(Interval{none, none});
  const auto add = [&](const std::string& header, const std::string& title, double number) {
    row.add_number(header, {title, Align::right}, columns.unit, number);
  };
  row.add_count("n", {"n", Align::right}, summary.count);
  add(name + "_mean", name + " mean", summary.mean);
  add("low", "95 % from", mean.low);
  add("high", "to", mean.high);
  add("median", "median", summary.median);
  add("median_low", "95 % from", median.low);
  add("median_high", "to", median.high);
  add("least", "least", summary.least);
  add("largest", "largest", summary.largest);
  if (!columns.quantile.empty()) add(columns.quantile, columns.quantile, cell.value);
  row.add_count("without_result", {"no result", Align::right}, cell.without_result);
  return row;
}

// frexp's mantissa lies in [0.5, 1), and is 0.5 for powers of two alone.
bool is_power_of_two(const Value& value) {
  int exponent = 0;
  return value.number >= 1 && std::frexp(value.number, &exponent) == 0.5;
}

// How the x axis of a figure counts, and where values lie on it.
struct CurveScale {
  CurveAxis axis = CurveAxis::names;
  AxisUnit unit;
  std::vector<std::string> names;     ///< of the axis of names
  std::vector<double> place_of_level; ///< [level]
};

// Numbers lie at their values, on a logarithmic axis where they spread over a factor of 8 (sizes,
// powers of two) or 30; texts and negative numbers lie side by side, in the order of the sweep.
CurveScale curve_scale(const Levels& x) {
  CurveScale scale;
  const double least = x.values.front().number, largest = x.values.back().number;
  const bool spread = least > 0 && largest >= 8 * least;
  if (!x.numeric() || least < 0) {
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      scale.names.push_back(display_text(x.values[i]));
      scale.place_of_level.push_back(static_cast<double>(i));
    }
    return scale;
  }
  const bool powers = std::all_of(x.values.begin(), x.values.end(), is_power_of_two);
  if (spread && x.unit == Unit::bytes && least >= 1) {
    scale.axis = CurveAxis::bytes;
  } else if (spread && x.unit == Unit::none && powers) {
    scale.axis = CurveAxis::powers;
  } else {
    // curve_figure() wants x from 1 on where it is logarithmic.
    const AxisUnit from_least = axis_unit(x.unit, least);
    const bool tens = largest >= 30 * least && least >= from_least.divisor;
    scale.axis = tens ? CurveAxis::tens : CurveAxis::linear;
    scale.unit = tens ? from_least : axis_unit(x.unit, largest);
  }
  for (const Value& value : x.values)
    scale.place_of_level.push_back(value.number / scale.unit.divisor);
  return scale;
}

FigureAxis y_axis(std::span<const CurveCell* const> cells, const CurveColumns& columns,
                  bool logarithmic) {
  std::vector<double> values;
  for (const CurveCell* cell : cells)
    if (!std::isnan(cell->value)) values.push_back(cell->value);
  return {columns.value_name, columns.unit, values,
          logarithmic ? AxisScale::logarithmic : AxisScale::linear};
}

// Cells are ordered by their series, so that a new name begins a new curve.
Curve& curve_named(std::vector<Curve>& curves, const std::string& name) {
  if (curves.empty() || curves.back().name != name) curves.push_back({name, {}});
  return curves.back();
}

void add_point(Curve& curve, const CurveCell& cell, double x, const FigureAxis& y, bool with_band) {
  curve.points.push_back({x, y.scaled(cell.value)});
  if (!with_band || !cell.summary || !cell.summary->mean_interval) return;
  const Interval& interval = *cell.summary->mean_interval;
  curve.band.push_back({x, y.scaled(interval.low), y.scaled(interval.high)});
}

// A mean over the repetitions that ended says nothing of those that didn't, and those are the hard
// ones: the figure has to say how many there are.
std::string missing_text(std::span<const CurveCell* const> cells, bool replicates) {
  std::size_t missing = 0, all = 0;
  for (const CurveCell* cell : cells) {
    missing += cell->without_result;
    all +=
        cell->without_result +
        (cell->summary ? cell->summary->count : static_cast<std::size_t>(!std::isnan(cell->value)));
  }
  if (missing == 0) return "";
  return fmt::format("{} of {} {} have no result and don't count", missing, all,
                     replicates ? "repetitions" : "points of curves");
}

void add_figure(AnalysisReport& report, const CurvesAnalysis& analysis, const CurveColumns& columns,
                std::span<const CurveCell* const> cells, const Sweep& sweep) {
  const std::string part = values_text(columns.by, cells.front()->first_row);
  const auto has_value = [](const CurveCell* cell) { return !std::isnan(cell->value); };
  const std::string missing = missing_text(cells, columns.replicates);
  if (!missing.empty()) report.notes.push_back(begin_of_part(part) + missing + ".");
  if (std::none_of(cells.begin(), cells.end(), has_value)) return;
  if (std::any_of(cells.begin(), cells.end(), [](const CurveCell* c) { return c->value < 0; })) {
    report.notes.push_back(begin_of_part(part) + "no figure of negative values.");
    return;
  }
  const CurveScale x = curve_scale(*columns.x);
  const FigureAxis y = y_axis(cells, columns, analysis.logarithmic);
  CurveChart chart;
  const std::string words = values_words(columns.by, cells.front()->first_row, ", ");
  chart.heading.title = report.title_of(words, columns.by, cells.front()->first_row);
  if (!columns.quantile.empty())
    chart.heading.note = fmt::format("{} of {}", columns.quantile, analysis.replicates);
  else if (columns.replicates)
    chart.heading.note = "means with 95 % confidence intervals";
  if (!missing.empty()) chart.heading.note += (chart.heading.note.empty() ? "" : "; ") + missing;
  chart.heading.note = case_note(sweep, chart.heading.note);
  chart.axis = x.axis;
  chart.x_names = x.names;
  chart.x_label = x.unit.label(columns.x->name);
  chart.y_label = y.label();
  chart.y_tics = y.axis().tics;
  chart.logarithmic = y.logarithmic();
  for (const CurveCell* cell : cells) {
    const std::string name = columns.series == nullptr
                                 ? columns.value_name
                                 : values_words({&columns.series, 1}, cell->first_row);
    Curve& curve = curve_named(chart.curves, name);
    if (has_value(cell))
      add_point(curve, *cell, x.place_of_level[columns.x->of_row[cell->first_row]], y,
                columns.quantile.empty());
  }
  report.figures.push_back({part, chart.heading.title, curve_figure(chart)});
}

// Who is best at the first and the last x of these cells, and how far the worst is from that.
void add_conclusion(AnalysisReport& report, const CurveColumns& columns,
                    const ObjectiveValues& objective, std::span<const CurveCell* const> cells) {
  constexpr std::size_t most = 4; // of parts
  if (columns.series == nullptr || report.conclusions.size() >= most) return;
  std::map<std::uint32_t, std::vector<const CurveCell*>> by_x;
  for (const CurveCell* cell : cells)
    if (!std::isnan(cell->value)) by_x[columns.x->of_row[cell->first_row]].push_back(cell);
  std::erase_if(by_x, [](const auto& each) { return each.second.size() < 2; });
  if (by_x.empty()) return;
  const auto series = [&](const CurveCell* cell) {
    return values_words({&columns.series, 1}, cell->first_row);
  };
  std::string text;
  const auto add = [&](std::uint32_t level, const std::vector<const CurveCell*>& there) {
    const auto [best, worst] = std::ranges::minmax_element(
        there, [&](double a, double b) { return objective.better(a, b); }, &CurveCell::value);
    const double ratio =
        objective.maximise ? (*best)->value / (*worst)->value : (*worst)->value / (*best)->value;
    text +=
        fmt::format("{}at {} {} {} has the {} {}, {}", text.empty() ? "" : "; ", columns.x->name,
                    display_text(columns.x->values[level]), series(*best), objective.aim(),
                    columns.value_name, display_text((*best)->value, columns.unit));
    if (std::isfinite(ratio) && ratio >= 1)
      text += objective.maximise
                  ? fmt::format(", {} that of {}", times_text(ratio), series(*worst))
                  : fmt::format(", {} has {} as much", series(*worst), times_text(ratio));
  };
  add(by_x.begin()->first, by_x.begin()->second);
  if (by_x.size() > 1) add(by_x.rbegin()->first, by_x.rbegin()->second);
  const std::string part = values_words(columns.by, cells.front()->first_row, ", ");
  text[0] = part.empty() ? 'A' : 'a';
  report.conclusions.push_back(begin_of_part(part) + text + ".");
}

} // namespace

AnalysisReport curves_report(const CurvesAnalysis& analysis, AnalysedPoints& points) {
  AnalysisReport report = begun_report("curves", analysis.head, points);
  const CurveColumns columns = curve_columns(analysis, points);
  report.explanation =
      columns.replicates
          ? fmt::format("Means over {} with 95 % confidence intervals (Student's t), medians with "
                        "distribution-free ones. \"n\": repetitions with a result; \"no result\": "
                        "those without, which no mean knows of.",
                        analysis.replicates)
          : fmt::format("{} over {}; other parameters are chosen for the best.", columns.value_name,
                        analysis.x);
  CurveCell nothing;
  nothing.first_row = no_index;
  curve_row(nothing, columns).begin(report);
  const std::vector<CurveCell> cells = curve_cells(analysis, points);
  const Grouping parts = points.grouped_by(analysis.head.by);
  std::vector<std::vector<const CurveCell*>> by_part(parts.size());
  for (const CurveCell& cell : cells) {
    curve_row(cell, columns).append_to(report);
    by_part[parts.of_row[cell.first_row]].push_back(&cell);
  }
  const ObjectiveValues& objective = points.objective(analysis.objective);
  for (const auto& part : by_part) {
    add_conclusion(report, columns, objective, part);
    add_figure(report, analysis, columns, part, points.sweep());
  }
  limit_figures(report);
  return report;
}

} // namespace tutti::sweep
