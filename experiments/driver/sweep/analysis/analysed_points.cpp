// A sweep may have a million points, and an analysis looks at each of them once for each parameter.
// So texts become small numbers (levels) once, objectives are evaluated once, and what analyses
// group, compare and sort afterwards are integers and doubles by row.
#include "experiments/driver/sweep/analysis/analysed_points.hpp"

#include "experiments/driver/records/renames.hpp"
#include "experiments/driver/sweep/analysis/cells.hpp"
#include "sim/error.hpp"
#include "sim/expressions/expression.hpp"
#include "sim/ids.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace tutti::sweep {

namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

// Points that failed, were stopped or are still missing have results of no run, or of half a run:
// no analysis sees them.
std::vector<bool> done_rows(const PointTable& table) {
  const TableColumn& status = table.column("status");
  const auto found = std::find(status.dictionary.begin(), status.dictionary.end(), "done");
  const auto done = static_cast<std::uint32_t>(found - status.dictionary.begin()) + 1;
  std::vector<bool> rows(table.rows);
  for (std::size_t row = 0; row < table.rows; ++row) rows[row] = status.texts[row] == done;
  return rows;
}

std::vector<std::string> names_of(const PointTable& table) {
  std::vector<std::string> names;
  for (const TableColumn& column : table.columns) names.push_back(column.name);
  return names;
}

// What an expression names, row by row.
class RowValues {
public:
  RowValues(const PointTable& table, const Expression& expression) {
    for (const std::string& name : expression.names()) columns_.push_back(&table.column(name));
    known_.resize(columns_.size());
    values_.resize(columns_.size());
  }
  /// Until the next call.
  std::span<const Value* const> at(std::size_t row) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      values_[c] = columns_[c]->has(row) ? &known_[c] : nullptr;
      if (values_[c] != nullptr) known_[c] = columns_[c]->value(row);
    }
    return values_;
  }

private:
  std::vector<const TableColumn*> columns_;
  std::vector<Value> known_;
  std::vector<const Value*> values_;
};

// The expression's value for each row that is done, where it has one.
std::vector<double> evaluated(const PointTable& table, const Objective& objective,
                              const std::vector<bool>& done) {
  const Expression expression(objective.expression, names_of(table), unknown_column);
  RowValues values(table, expression);
  std::vector<double> results(table.rows, no_value);
  for (std::size_t row = 0; row < table.rows; ++row) {
    if (!done[row]) continue;
    std::optional<Value> result;
    try {
      result = expression.evaluate(values.at(row));
    } catch (const InputError&) {
      continue; // a division by zero
    }
    if (!result) continue;
    if (result->kind == Value::Kind::text)
      throw InputError(fmt::format("objective \"{}\": \"{}\" is the text \"{}\", no number",
                                   objective.name, objective.expression, result->text));
    results[row] = result->number;
  }
  return results;
}

// The texts that a parameter takes, in the order of the sweep.
std::vector<std::string> listed_texts(const Sweep& sweep, const std::string& parameter) {
  std::vector<std::string> texts;
  for (const Axis& axis : sweep.axes)
    for (std::size_t i = 0; i < axis.names.size(); ++i)
      if (axis.names[i] == parameter)
        for (const auto& row : axis.rows) texts.push_back(to_text(row[i]));
  return texts;
}

// Columns that are one, by its name "network, npus".
std::vector<std::string> columns_of(const std::string& name) {
  std::vector<std::string> columns;
  for (const std::string_view each : split(name, ',')) columns.emplace_back(trimmed(each));
  return columns;
}

// One level for each combination of values that occurs.
Levels combined(const std::string& name, std::span<const Levels* const> columns, std::size_t rows) {
  Grouping grouping = grouped(columns, rows);
  Levels levels{name, Unit::none, {}, std::move(grouping.of_row)};
  for (const std::uint32_t row : grouping.first_row)
    levels.values.push_back({.text = values_text(columns, row)});
  return levels;
}

Levels levels_in_sweep(const Sweep& sweep, const TableColumn& column) {
  return levels_of(column, listed_texts(sweep, column.name));
}

} // namespace

ObjectiveValues objective_values(const PointTable& table, const Objective& objective) {
  const std::vector<bool> done = done_rows(table);
  ObjectiveValues result{objective.name, objective.maximise, objective.unit, {}};
  const TableColumn* column = table.find(trimmed(objective.expression));
  if (column == nullptr) {
    result.values = evaluated(table, objective, done);
    return result;
  }
  if (result.unit == Unit::none) result.unit = column->unit;
  result.values = column->numbers;
  for (std::size_t row = 0; row < table.rows; ++row)
    if (!done[row]) result.values[row] = no_value;
  return result;
}

AnalysedPoints::AnalysedPoints(const Sweep& sweep, const PointTable& table)
    : sweep_(&sweep), table_(&table) {
  static_cast<void>(table.column("status"));
}

const Levels& AnalysedPoints::levels(const std::string& column) {
  const auto found = levels_.find(column);
  if (found != levels_.end()) return found->second;
  const std::vector<std::string> columns = columns_of(column);
  Levels made = columns.size() > 1 ? combined(column, levels_of(columns), rows())
                                   : levels_in_sweep(*sweep_, table_->column(column));
  return levels_.emplace(column, std::move(made)).first->second;
}

const ObjectiveValues& AnalysedPoints::objective(const std::string& name) {
  const auto found = objectives_.find(name);
  if (found != objectives_.end()) return found->second;
  std::vector<std::string> known;
  for (const Objective& each : sweep_->objectives) {
    if (each.name == name)
      return objectives_.emplace(name, objective_values(*table_, each)).first->second;
    known.push_back(each.name);
  }
  throw InputError(unknown_name("objective", name, known));
}

std::vector<const Levels*> AnalysedPoints::levels_of(std::span<const std::string> columns) {
  std::vector<const Levels*> all;
  for (const std::string& name : columns) all.push_back(&levels(name));
  return all;
}

std::vector<const Levels*> AnalysedPoints::varied_but(std::span<const Levels* const> these) {
  std::vector<const Levels*> all = levels_of(varied_parameters());
  std::erase_if(all, [these](const Levels* each) {
    return std::find(these.begin(), these.end(), each) != these.end();
  });
  return all;
}

Grouping AnalysedPoints::grouped_by(std::span<const std::string> columns) {
  return grouped(levels_of(columns), rows());
}

std::vector<std::string> AnalysedPoints::varied_parameters() {
  std::vector<std::string> names;
  for (const TableColumn& column : table_->columns)
    if (column.role == Role::parameter && levels(column.name).values.size() > 1)
      names.push_back(column.name);
  return names;
}

bool AnalysedPoints::follows(const std::string& other, const std::string& from) {
  const auto has = [](const Axis& axis, const std::string& name) {
    return std::ranges::all_of(columns_of(name), [&axis](const std::string& column) {
      return std::ranges::find(axis.names, column) != axis.names.end();
    });
  };
  // Parameters that are equal by chance, or because a constraint left few points, follow from
  // nothing: only what one axis varies together does.
  const bool zipped = std::any_of(sweep_->axes.begin(), sweep_->axes.end(), [&](const Axis& axis) {
    return !axis.drawn && has(axis, other) && has(axis, from);
  });
  if (!zipped) return false;
  const Levels &own = levels(from), &others = levels(other);
  std::vector<std::uint32_t> seen(own.values.size(), no_index);
  for (std::size_t row = 0; row < own.of_row.size(); ++row) {
    if (own.of_row[row] == no_index) continue;
    std::uint32_t& level = seen[own.of_row[row]];
    if (level == no_index) level = others.of_row[row];
    if (level != others.of_row[row]) return false;
  }
  return true;
}

std::vector<std::uint32_t> best_rows(const Grouping& grouping, const ObjectiveValues& objective) {
  std::vector<std::uint32_t> best(grouping.size(), no_index);
  for (std::uint32_t row = 0; row < grouping.of_row.size(); ++row) {
    if (grouping.of_row[row] == no_index || !objective.has(row)) continue;
    std::uint32_t& chosen = best[grouping.of_row[row]];
    if (chosen == no_index || objective.better(objective.values[row], objective.values[chosen]))
      chosen = row;
  }
  return best;
}

PointTable with_objectives(const Sweep& sweep, PointTable table) {
  std::vector<TableColumn> columns;
  for (const Objective& objective : sweep.objectives) {
    if (table.find(objective.name) != nullptr) continue;
    ObjectiveValues values = objective_values(table, objective);
    columns.push_back({.name = objective.name,
                       .role = Role::result,
                       .unit = values.unit,
                       .numbers = std::move(values.values),
                       .texts = std::vector<std::uint32_t>(table.rows)});
  }
  std::ranges::move(columns, std::back_inserter(table.columns));
  return table;
}

ChosenPoints points_where(const PointTable& table, const std::string& condition) {
  const Expression expression(condition, names_of(table), unknown_column);
  RowValues values(table, expression);
  ChosenPoints chosen{.rows = {}, .names = expression.names()};
  for (std::uint32_t row = 0; row < table.rows; ++row) {
    try {
      if (expression.holds(values.at(row))) chosen.rows.push_back(row);
    } catch (const InputError& error) {
      if (++chosen.unclear == 1) chosen.why = error.what();
    }
  }
  if (chosen.rows.empty() && chosen.unclear > 0) throw InputError(chosen.why);
  return chosen;
}

PointTable in_sweep_order(const Sweep& sweep, const PointTable& table) {
  std::vector<Levels> levels;
  for (const Axis& axis : sweep.axes)
    for (const std::string& name : axis.names)
      if (const TableColumn* column = table.find(name))
        levels.push_back(levels_in_sweep(sweep, *column));
  for (const TableColumn& column : table.columns) { // those of no axis
    const auto is_it = [&](const Levels& each) { return each.name == column.name; };
    if (column.role == Role::parameter && std::none_of(levels.begin(), levels.end(), is_it))
      levels.push_back(levels_in_sweep(sweep, column));
  }
  std::vector<std::uint32_t> order(table.rows);
  std::iota(order.begin(), order.end(), 0U);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    for (const Levels& each : levels)
      if (each.of_row[a] != each.of_row[b]) return each.of_row[a] < each.of_row[b];
    return false;
  };
  if (std::is_sorted(order.begin(), order.end(), before)) return table;
  std::stable_sort(order.begin(), order.end(), before);
  PointTable sorted = table;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    for (std::size_t row = 0; row < table.rows; ++row) {
      sorted.columns[c].numbers[row] = table.columns[c].numbers[order[row]];
      sorted.columns[c].texts[row] = table.columns[c].texts[order[row]];
    }
  return sorted;
}

} // namespace tutti::sweep
