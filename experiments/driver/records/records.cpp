// One writer for the records of all kinds of study, so that a gap or a time is written alike
// everywhere: numbers exactly or with as many places as a reader of two files needs to compare
// them.
#include "experiments/driver/records/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tutti {

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

} // namespace tutti
