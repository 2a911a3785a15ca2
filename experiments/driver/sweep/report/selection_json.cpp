// Writes the JSON whose grammar stands in the header.
#include "experiments/driver/sweep/report/selection_json.hpp"

#include "experiments/driver/records/json.hpp"
#include "experiments/driver/sweep/space/whole_number.hpp"
#include "sim/ids.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace tutti::sweep {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no NaN and no infinity: null. Whole numbers are written as such, without ".0".
Json number_json(double number) {
  if (!std::isfinite(number)) return nullptr;
  if (is_whole(number)) return static_cast<std::int64_t>(number);
  return number;
}

Json value_json(const Value& value) {
  switch (value.kind) {
  case Value::Kind::number: return number_json(value.number);
  case Value::Kind::boolean: return value.number != 0;
  case Value::Kind::text: break;
  }
  return value.text;
}

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
    next = {
        {"choice", values_json(points, analysis.of, *point.next_row)},
        {"ratio", number_json(loss_ratio(objective, value, objective.values[*point.next_row]))}};
  return {{"at", at_json(points, analysis.over, point.row)},
          {"objective", number_json(value)},
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

} // namespace

std::string selection_json(const SelectionAnalysis& analysis, AnalysedPoints& points,
                           const std::vector<Selection>& selections) {
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
  const Study& study = points.study();
  return json_text(
      {{"study", study.name},
       {"label", analysis.head.label},
       {"title", analysis.head.title.empty() ? analysis.head.label : analysis.head.title},
       {"objective",
        {{"name", objective.name},
         {"unit", to_text(objective.unit)},
         {"better", objective.maximise ? "largest" : "least"}}},
       {"over", {{"name", analysis.over}, {"unit", to_text(points.levels(analysis.over).unit)}}},
       {"of", analysis.of},
       {"constants", constants_json(points)},
       {"selections", std::move(all)}});
}

} // namespace tutti::sweep
