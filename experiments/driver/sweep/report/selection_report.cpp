// Selections: a table with a row for each range, a CSV with one for each point, a JSON, and a map.
//
// The JSON is for a tuner that isn't ours:
//   sweep, label, title   texts
//   objective             {name, unit ("seconds"), better ("least" or "largest")}
//   over                  {name, unit}
//   of                    [names of what is chosen]
//   constants             {name: value}: parameters, derived values and facts that all points share
//   selections            one for each combination of `by`:
//     by                  {name: value}
//     ranges              ascending; each
//       from, to          numbers: for from <= value < to; `to` is the next simulated value that
//                         has another choice or none, null after the last; or, where `over` is a
//                         text, `value` instead
//       choice            {name: value}
//       points            what was simulated: [{at, objective, next_best: {choice, ratio} or null}]
//                         `ratio`: how many times worse it is; null unless both are positive
//     unanswered          values of `over` for which no choice has a result
// Numbers are in SI units. Nothing is measured and no version is in it: the same points give the
// same bytes.
#include "experiments/driver/figures/choice_map.hpp"
#include "experiments/driver/figures/palette.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/sweep/analysis/cells.hpp"
#include "experiments/driver/sweep/analysis/selection.hpp"
#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "experiments/driver/sweep/report/report_row.hpp"
#include "experiments/driver/sweep/space/value_json.hpp"
#include "sim/ids.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tutti::sweep {

namespace {

using Json = nlohmann::ordered_json;

struct SelectionColumns {
  std::vector<const Levels*> by, of;
  const Levels* over = nullptr;
};

double next_ratio(const SelectedPoint& point, const ObjectiveValues& objective) {
  if (!point.next_row) return std::nan("");
  return loss_ratio(objective, objective.values[point.row], objective.values[*point.next_row]);
}

// The CSV has a row for each point that was simulated, so that a range can be traced back to them.
ReportRow point_row(const SelectedPoint& point, const SelectionRange& range,
                    const SelectionColumns& columns, const ObjectiveValues& objective) {
  ReportRow row;
  for (const Levels* each : columns.by) row.add_level(*each, point.row);
  row.add_level(*columns.over, point.row);
  for (const Levels* each : columns.of) row.add_level(*each, point.row);
  row.add_objective(objective, point.row);
  for (const Levels* each : columns.of)
    row.add_level(*each, point.next_row.value_or(no_index), "next_");
  row.add("next_over_best", {}, exact_text(next_ratio(point, objective)), "");
  row.add_count("ties", {}, point.ties);
  row.add_level(*columns.over, range.points.front().row, "range_from_");
  row.add_level(*columns.over, range.end_row.value_or(no_index), "range_to_");
  return row;
}

// The table has one for each range. The ratios say how much the choice matters within it: where the
// next best is hardly worse anywhere, a reader may as well keep that one.
ReportRow range_row(const SelectionRange& range, const SelectionColumns& columns,
                    const ObjectiveValues& objective) {
  const std::uint32_t first = range.points.front().row;
  ReportRow row;
  for (const Levels* each : columns.by) row.add_level(*each, first);
  if (columns.over->numeric()) {
    row.add("", {columns.over->name + " from", Align::right}, "",
            first == no_index ? "" : values_text({&columns.over, 1}, first));
    row.add("", {"to below", Align::right}, "",
            range.end_row ? values_text({&columns.over, 1}, *range.end_row) : "any");
  } else {
    row.add_level(*columns.over, first);
  }
  for (const Levels* each : columns.of) row.add_level(*each, first);
  row.add_count("", {"points", Align::right}, range.points.size());
  double least = std::nan(""), largest = least;
  for (const SelectedPoint& point : range.points) {
    least = std::fmin(least, next_ratio(point, objective));
    largest = std::fmax(largest, next_ratio(point, objective));
  }
  for (const auto& [title, ratio] :
       {std::pair("next best is worse by at least", least), {"at most", largest}})
    row.add("", {title, Align::right}, "", std::isnan(ratio) ? "-" : times_text(ratio));
  return row;
}

// One row for each combination of `by`, one column for each value of `over`.
void add_map(AnalysisReport& report, const SelectionColumns& columns,
             const ObjectiveValues& objective, const std::vector<Selection>& selections,
             const Sweep& sweep) {
  ChoiceMap map;
  map.title = report.title;
  map.note = case_note(sweep, "numbers: how many times worse the next-best choice is");
  map.x_label = columns.over->name;
  std::vector<std::string> names;
  for (const Levels* each : columns.by) names.push_back(each->name);
  map.y_label = joined(names, ", ");
  for (const Value& value : columns.over->values) map.columns.push_back(display_text(value));
  std::map<std::vector<std::uint32_t>, std::size_t> places; // of choices, by their levels
  const auto choice_of = [&](std::uint32_t row) {
    std::vector<std::uint32_t> levels;
    for (const Levels* each : columns.of) levels.push_back(each->of_row[row]);
    return levels;
  };
  for (const Selection& selection : selections)
    for (const SelectionRange& range : selection.ranges) {
      const std::uint32_t row = range.points.front().row;
      places.emplace(choice_of(row), 0);
    }
  for (auto& [choice, place] : places) {
    place = map.choices.size();
    std::string name;
    for (std::size_t i = 0; i < columns.of.size(); ++i)
      name += fmt::format("{}{}{}", i == 0 ? "" : ", ",
                          columns.of[i]->numeric() ? columns.of[i]->name + " " : "",
                          display_text(columns.of[i]->values[choice[i]]));
    map.choices.push_back({name, choice_colour(place)});
  }
  for (const Selection& selection : selections) {
    for (const SelectionRange& range : selection.ranges)
      for (const SelectedPoint& point : range.points) {
        map.cells.push_back({columns.over->of_row[point.row], map.rows.size(),
                             places.at(choice_of(point.row)), values_text(columns.of, point.row),
                             point.ties > 1 ? "tie" : times_text(next_ratio(point, objective))});
      }
    map.rows.push_back(values_text(columns.by, selection.first_row));
  }
  if (map.cells.empty()) return;
  report.figures.push_back({"", report.title, choice_map_figure(map)});
}

void add_conclusion(AnalysisReport& report, const SelectionColumns& columns,
                    const ObjectiveValues& objective, const std::vector<Selection>& selections,
                    const std::string& of) {
  std::vector<std::string> chosen;
  double largest = 0;
  for (const Selection& selection : selections)
    for (const SelectionRange& range : selection.ranges)
      for (const SelectedPoint& point : range.points) {
        chosen.push_back(values_words(columns.of, point.row));
        largest = std::fmax(largest, next_ratio(point, objective)); // the other, where one is NaN
      }
  if (chosen.empty()) return;
  std::string text = fmt::format("Chosen {}: {}.", of, counts_text(chosen));
  if (largest > 0)
    text += fmt::format(" The next-best choice is at most {} worse.", times_text(largest));
  report.conclusions.push_back(std::move(text));
}

// ---- JSON

Json values_json(AnalysedPoints& points, const std::vector<std::string>& columns,
                 std::uint32_t row) {
  Json json = Json::object();
  for (const std::string& name : columns)
    json[name] = value_json(points.table().column(name).value(row));
  return json;
}

Json at_json(AnalysedPoints& points, const std::string& column, std::uint32_t row) {
  return value_json(points.table().column(column).value(row));
}

// What holds of every point: a tuner that reads the table must know for which network, say, it is.
// Results are left out, even where they happen to be equal.
Json constants_json(AnalysedPoints& points) {
  Json json = Json::object();
  for (const TableColumn& column : points.table().columns) {
    if (column.role == Role::result || column.role == Role::record) continue;
    const Levels& levels = points.levels(column.name);
    bool everywhere = levels.values.size() == 1;
    for (const std::uint32_t level : levels.of_row) everywhere = everywhere && level != no_index;
    if (everywhere) json[column.name] = value_json(levels.values.front());
  }
  return json;
}

Json point_json(const SelectionAnalysis& analysis, AnalysedPoints& points,
                const SelectedPoint& point) {
  const ObjectiveValues& objective = points.objective(analysis.objective);
  const double value = objective.values[point.row];
  Json next = nullptr;
  if (point.next_row)
    next = {{"choice", values_json(points, analysis.of, *point.next_row)},
            {"ratio", value_json(loss_ratio(objective, value, objective.values[*point.next_row]))}};
  return {{"at", at_json(points, analysis.over, point.row)},
          {"objective", value_json(value)},
          {"next_best", std::move(next)}};
}

Json range_json(const SelectionAnalysis& analysis, AnalysedPoints& points,
                const SelectionRange& range) {
  const std::uint32_t first = range.points.front().row;
  Json json;
  if (points.levels(analysis.over).numeric()) {
    json["from"] = at_json(points, analysis.over, first);
    json["to"] = range.end_row ? at_json(points, analysis.over, *range.end_row) : Json(nullptr);
  } else {
    json["value"] = at_json(points, analysis.over, first);
  }
  json["choice"] = values_json(points, analysis.of, first);
  json["points"] = Json::array();
  for (const SelectedPoint& point : range.points)
    json["points"].push_back(point_json(analysis, points, point));
  return json;
}

/// Indented, with a newline at the end.
std::string selection_json(const SelectionAnalysis& analysis, const std::string& title,
                           AnalysedPoints& points, const std::vector<Selection>& selections) {
  const ObjectiveValues& objective = points.objective(analysis.objective);
  Json all = Json::array();
  for (const Selection& selection : selections) {
    Json ranges = Json::array(), unanswered = Json::array();
    for (const SelectionRange& range : selection.ranges)
      ranges.push_back(range_json(analysis, points, range));
    for (const std::uint32_t row : selection.unanswered)
      unanswered.push_back(at_json(points, analysis.over, row));
    all.push_back({{"by", values_json(points, analysis.head.by, selection.first_row)},
                   {"ranges", std::move(ranges)},
                   {"unanswered", std::move(unanswered)}});
  }
  const Sweep& sweep = points.sweep();
  return json_text(
      {{"sweep", sweep.name},
       {"label", analysis.head.label},
       {"title", title},
       {"objective",
        {{"name", objective.name}, {"unit", to_text(objective.unit)}, {"better", objective.aim()}}},
       {"over", {{"name", analysis.over}, {"unit", to_text(points.levels(analysis.over).unit)}}},
       {"of", analysis.of},
       {"constants", constants_json(points)},
       {"selections", std::move(all)}});
}

} // namespace

AnalysisReport selection_report(const SelectionAnalysis& analysis, AnalysedPoints& points) {
  AnalysisReport report = begun_report("selection", analysis.head, points);
  const ObjectiveValues& objective = points.objective(analysis.objective);
  report.explanation =
      fmt::format("For each {} the {} with the {} {}, neighbours with the same "
                  "choice merged. What lies between "
                  "two simulated values has the choice of the lower one.",
                  analysis.over, joined(analysis.of, ", "), objective.aim(), objective.name);
  const SelectionColumns columns{points.levels_of(analysis.head.by), points.levels_of(analysis.of),
                                 &points.levels(analysis.over)};
  const SelectedPoint nothing{.row = no_index, .next_row = {}};
  const SelectionRange no_range{.points = {nothing}, .end_row = {}};
  point_row(nothing, no_range, columns, objective).begin_csv(report);
  range_row(no_range, columns, objective).begin_table(report);
  const std::vector<Selection> selections = selections_of(analysis, points);
  for (const Selection& selection : selections) {
    for (const SelectionRange& range : selection.ranges) {
      for (const SelectedPoint& point : range.points)
        point_row(point, range, columns, objective).append_to_csv(report);
      range_row(range, columns, objective).append_to_table(report);
    }
    std::string missing;
    for (const std::uint32_t row : selection.unanswered)
      missing += (missing.empty() ? "" : ", ") + values_text({&columns.over, 1}, row);
    const std::string part = values_text(columns.by, selection.first_row);
    if (!missing.empty())
      report.notes.push_back(
          fmt::format("{}no result for {} {}.", begin_of_part(part), analysis.over, missing));
  }
  add_conclusion(report, columns, objective, selections, joined(analysis.of, " and "));
  add_map(report, columns, objective, selections, points.sweep());
  report.json = selection_json(analysis, report.title, points, selections);
  return report;
}

} // namespace tutti::sweep
