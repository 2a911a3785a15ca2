// A condition says what somebody looks for: what it names stands beside the parameters that tell
// the points apart and the objectives that they are compared by.
#include "experiments/driver/sweep/report/points_report.hpp"

#include "experiments/driver/sweep/analysis/cells.hpp"
#include "experiments/driver/sweep/space/value_json.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace tutti::sweep {

namespace {

std::vector<const TableColumn*> shown_columns(const Sweep& sweep, const PointTable& table,
                                              const ChosenPoints& chosen, bool all) {
  std::vector<const TableColumn*> columns;
  const auto add = [&](const std::string& name) {
    const TableColumn* const column = table.find(name);
    if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
  };
  AnalysedPoints points(sweep, table);
  for (const std::string& name : points.varied_parameters()) add(name);
  for (const std::string& name : chosen.names) add(name);
  for (const Objective& objective : sweep.objectives) add(objective.name);
  for (std::size_t i = 0; all && i < table.columns.size(); ++i) add(table.columns[i].name);
  return columns;
}

} // namespace

Table points_table(const Sweep& sweep, const PointTable& table, const ChosenPoints& chosen,
                   bool all) {
  Table shown;
  shown.rows.resize(chosen.rows.size());
  for (const TableColumn* column : shown_columns(sweep, table, chosen, all)) {
    const bool is_text = !column->dictionary.empty();
    shown.columns.push_back({.title = column->name,
                             .align = is_text ? Align::left : Align::right,
                             .is_label = column->role == Role::parameter});
    for (std::size_t i = 0; i < chosen.rows.size(); ++i)
      shown.rows[i].push_back(
          column->has(chosen.rows[i]) ? display_text(column->value(chosen.rows[i])) : "-");
  }
  return shown;
}

nlohmann::ordered_json points_json(const PointTable& table, const ChosenPoints& chosen) {
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (const std::uint32_t row : chosen.rows) {
    nlohmann::ordered_json values = nlohmann::ordered_json::object();
    for (const TableColumn& column : table.columns)
      values[column.name] =
          column.has(row) ? value_json(column.value(row)) : nlohmann::ordered_json(nullptr);
    points.push_back({{"kind", "point"}, {"values", std::move(values)}});
  }
  return points;
}

} // namespace tutti::sweep
