// Sweeps and tables of points made by hand.
#pragma once

#include "experiments/driver/sweep/space/point_table.hpp"
#include "experiments/driver/sweep/space/sweep.hpp"
#include "sim/random.hpp"

#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace tutti::sweep {

/// "" is nothing; a number or a quantity is one, anything else a text.
inline Value value_of(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size() && !text.empty() ? number_value(number)
                                                            : text_value(text);
}

struct TestColumn {
  std::string name;
  Role role;
  Unit unit = Unit::none;
};

/// A table with these columns, one row for each row of cells.
inline PointTable table_of(const std::vector<TestColumn>& columns,
                           const std::vector<std::vector<std::string>>& rows) {
  PointTable table;
  for (const TestColumn& column : columns) {
    TableColumn made;
    made.name = column.name;
    made.role = column.role;
    made.unit = column.unit;
    table.columns.push_back(std::move(made));
  }
  for (const auto& row : rows)
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (row[c].empty())
        table.columns[c].add_nothing();
      else
        table.columns[c].add(value_of(row[c]));
    }
  table.rows = rows.size();
  return table;
}

/// A sweep with these parameters as axes of their own, and an objective for each result column.
inline Sweep sweep_of(const std::vector<std::pair<std::string, std::vector<std::string>>>& axes,
                      std::vector<Objective> objectives) {
  Sweep sweep;
  sweep.name = "hand_made";
  for (const auto& [name, values] : axes) {
    Axis axis;
    axis.names = {name};
    for (const std::string& value : values) axis.rows.push_back({value_of(value)});
    sweep.axes.push_back(std::move(axis));
  }
  sweep.objectives = std::move(objectives);
  return sweep;
}

inline Objective least(const std::string& name) { return {name, name, false, Unit::none}; }
inline Objective largest(const std::string& name) { return {name, name, true, Unit::none}; }

/// The rows in another order.
inline std::vector<std::vector<std::string>> shuffled(std::vector<std::vector<std::string>> rows,
                                                      std::uint64_t seed) {
  Random random(seed);
  random.shuffle(rows);
  return rows;
}

} // namespace tutti::sweep
