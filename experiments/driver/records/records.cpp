// One writer for the records of all kinds of study, so that a gap or a time is written alike
// everywhere: numbers exactly or with as many places as a reader of two files needs to compare
// them.
#include "experiments/driver/records/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace tutti {

std::string_view name_without_unit(const RecordColumn& column) {
  const std::string_view name = column.name;
  for (const std::string_view unit : {"_bytes_per_s", "_ps", "_bytes", "_seconds"})
    if (name.ends_with(unit) && name.size() > unit.size())
      return name.substr(0, name.size() - unit.size());
  return name;
}

bool Cell::is_known() const {
  if (const double* number = std::get_if<double>(&value_)) return std::isfinite(*number);
  return !std::holds_alternative<std::monostate>(value_);
}

double Cell::number() const {
  if (const bool* holds = std::get_if<bool>(&value_)) return *holds ? 1 : 0;
  if (const std::int64_t* whole = std::get_if<std::int64_t>(&value_))
    return static_cast<double>(*whole);
  return std::get<double>(value_);
}

std::string exact_text(const Cell& cell, Quantity quantity) {
  if (!cell.is_known()) return "";
  switch (quantity) {
  case Quantity::text: return cell.text();
  case Quantity::truth: return cell.holds() ? "true" : "false";
  case Quantity::count:
  case Quantity::bytes:
  case Quantity::time: return fmt::to_string(cell.whole());
  case Quantity::rate: return fmt::format("{:.0f}", cell.number());
  case Quantity::ratio: return fmt::format("{:.6f}", cell.number());
  case Quantity::number: return fmt::format("{:.6g}", cell.number());
  case Quantity::fact: return fmt::format("{:.10g}", cell.number());
  case Quantity::seconds: return fmt::format("{:.9g}", cell.number());
  case Quantity::effort: break;
  }
  return fmt::format("{:.3f}", cell.number());
}

void append(Records& records, const Records& more) {
  std::vector<std::size_t> place; // of each column of `more`
  for (const RecordColumn& column : more.columns) {
    auto found = std::ranges::find(records.columns, column.name, &RecordColumn::name);
    if (found == records.columns.end()) {
      const bool is_cost = column.role == ColumnRole::cost;
      found = is_cost ? records.columns.end()
                      : std::ranges::find(records.columns, ColumnRole::cost, &RecordColumn::role);
      const auto at = found - records.columns.begin();
      records.columns.insert(found, column);
      for (std::vector<Cell>& row : records.rows) row.insert(row.begin() + at, Cell());
      for (std::size_t& p : place)
        if (p >= static_cast<std::size_t>(at)) ++p;
      found = records.columns.begin() + at;
    }
    place.push_back(static_cast<std::size_t>(found - records.columns.begin()));
  }
  for (const std::vector<Cell>& row : more.rows) {
    std::vector<Cell>& cells = records.rows.emplace_back(records.columns.size());
    for (std::size_t c = 0; c < row.size(); ++c) cells[place[c]] = row[c];
  }
}

std::vector<std::vector<std::string>> csv_rows(const Records& records) {
  std::vector<std::vector<std::string>> rows(1);
  for (const RecordColumn& column : records.columns) rows.front().push_back(column.name);
  for (const std::vector<Cell>& cells : records.rows) {
    std::vector<std::string>& row = rows.emplace_back();
    for (std::size_t c = 0; c < cells.size(); ++c)
      row.push_back(exact_text(cells[c], records.columns[c].quantity));
  }
  return rows;
}

namespace {

std::string short_text(const Cell& cell, Quantity quantity) {
  if (!cell.is_known()) return "-";
  switch (quantity) {
  case Quantity::bytes: return to_text(Bytes{cell.whole()});
  case Quantity::time: return short_text(Time{cell.whole()});
  case Quantity::rate: return short_rate_text(cell.number());
  case Quantity::ratio: return fmt::format("{:.3f}x", cell.number());
  case Quantity::seconds:
  case Quantity::effort: return fmt::format("{:.3f} s", cell.number());
  case Quantity::text: return cell.text().empty() ? "-" : cell.text();
  case Quantity::truth:
  case Quantity::count:
  case Quantity::number:
  case Quantity::fact: break;
  }
  return exact_text(cell, quantity);
}

/// "lower bound" of "lower_bound_ps": units stand with the values.
std::string title_of(const RecordColumn& column) {
  std::string title(name_without_unit(column));
  std::ranges::replace(title, '_', ' ');
  return title;
}

bool is_shown(const Records& records, std::size_t column) {
  const RecordColumn& c = records.columns[column];
  const auto text = [&](const std::vector<Cell>& row) {
    return exact_text(row[column], c.quantity);
  };
  const bool is_empty = std::ranges::all_of(
      records.rows, [&](const std::vector<Cell>& row) { return text(row).empty(); });
  const bool is_constant = records.rows.size() > 1 &&
                           std::ranges::all_of(records.rows, [&](const std::vector<Cell>& row) {
                             return text(row) == text(records.rows.front());
                           });
  return !is_empty && !(is_constant && c.role != ColumnRole::metric);
}

} // namespace

Table records_table(const Records& records) {
  Table table;
  table.rows.resize(records.rows.size());
  for (std::size_t c = 0; c < records.columns.size(); ++c) {
    if (!is_shown(records, c)) continue;
    const RecordColumn& column = records.columns[c];
    const bool is_text = column.quantity == Quantity::text || column.quantity == Quantity::truth;
    table.columns.push_back({title_of(column), is_text ? Align::left : Align::right, column.spare,
                             column.role == ColumnRole::note});
    for (std::size_t r = 0; r < records.rows.size(); ++r)
      table.rows[r].push_back(short_text(records.rows[r][c], column.quantity));
  }
  return table;
}

} // namespace tutti
