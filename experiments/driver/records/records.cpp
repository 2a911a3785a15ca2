// One writer for the records of all kinds of study, so that a gap or a time is written alike
// everywhere: numbers exactly or with as many places as a reader of two files needs to compare
// them.
#include "experiments/driver/records/records.hpp"

#include <fmt/format.h>

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
