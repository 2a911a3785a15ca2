// A page opens results that were written by any version, and analyses whose tables are CSV from
// their beginning: what a column counts is read from its name where nobody says it.
#include "experiments/driver/records/csv_records.hpp"

#include "sim/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti {

namespace {

template <typename T> std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Nothing where the text is none of this quantity.
std::optional<Cell> cell_of(const std::string& text, Quantity quantity) {
  switch (quantity) {
  case Quantity::text:
  case Quantity::numeral: return Cell(text);
  case Quantity::texts: return Cell(std::vector<std::string>{text});
  case Quantity::truth:
    if (text != "true" && text != "false") return std::nullopt;
    return Cell(text == "true");
  case Quantity::count:
  case Quantity::bytes:
  case Quantity::time:
    if (const auto whole = number_of<std::int64_t>(text)) return Cell(*whole);
    return std::nullopt;
  default:
    if (const auto number = number_of<double>(text)) return Cell(*number);
    return std::nullopt;
  }
}

/// The units that stand in names of columns, as records have them and as sweeps do.
Quantity quantity_by_unit(std::string_view name) {
  constexpr std::pair<std::string_view, Quantity> units[] = {
      {"_ps", Quantity::time},        {"_bytes_per_s", Quantity::rate},
      {" [bytes/s]", Quantity::rate}, {"_bytes", Quantity::bytes},
      {" [bytes]", Quantity::bytes},  {"_seconds", Quantity::seconds},
      {" [s]", Quantity::seconds},    {"_s", Quantity::seconds},
      {"_fraction", Quantity::part},  {"utilisation", Quantity::part}};
  for (const auto& [unit, quantity] : units)
    if (name.ends_with(unit)) return quantity;
  return Quantity::count; // or a number
}

bool fits(std::span<const std::vector<std::string>> rows, std::size_t c, Quantity quantity) {
  return std::ranges::all_of(rows, [&](const std::vector<std::string>& row) {
    return c >= row.size() || row[c].empty() || cell_of(row[c], quantity);
  });
}

RecordColumn column_of(std::span<const std::vector<std::string>> rows, std::size_t c,
                       const std::string& name, std::span<const RecordColumn> known) {
  const auto same = std::ranges::find(known, name, &RecordColumn::name);
  if (same != known.end() && fits(rows, c, same->quantity)) return *same;
  for (const Quantity quantity : {quantity_by_unit(name), Quantity::number, Quantity::truth}) {
    if (!fits(rows, c, quantity)) continue;
    RecordColumn column{name, quantity};
    column.title = name.substr(0, name.find(" ["));
    if (column.title == name) column.title.clear();
    return column;
  }
  const bool is_note = name == "message" || name.ends_with("note") || name == "explanation";
  return {name, Quantity::text, is_note ? ColumnRole::note : ColumnRole::key};
}

} // namespace

Records records_of_csv(std::span<const std::vector<std::string>> rows,
                       std::span<const RecordColumn> known) {
  Records records;
  if (rows.empty()) return records;
  const std::vector<std::string>& names = rows.front();
  rows = rows.subspan(1);
  for (std::size_t c = 0; c < names.size(); ++c) {
    records.columns.push_back(column_of(rows, c, names[c], known));
    std::string& name = records.columns.back().name;
    for (int n = 2; std::ranges::count(records.columns, name, &RecordColumn::name) > 1; ++n)
      name = names[c] + "_" + std::to_string(n);
  }
  for (const std::vector<std::string>& row : rows) {
    std::vector<Cell>& cells = records.rows.emplace_back(names.size());
    for (std::size_t c = 0; c < std::min(names.size(), row.size()); ++c)
      if (!row[c].empty()) cells[c] = *cell_of(row[c], records.columns[c].quantity);
  }
  return records;
}

Records records_of_table(const Table& table) {
  Records records;
  for (const Column& column : table.columns)
    records.columns.push_back({column.title, Quantity::text, ColumnRole::key});
  for (const std::vector<std::string>& row : table.rows)
    records.rows.emplace_back(row.begin(), row.end());
  return records;
}

} // namespace tutti
