// One writer for the records of all kinds of study, so that a gap or a time is written alike
// everywhere: numbers exactly or with as many places as a reader of two files needs to compare
// them.
#include "experiments/driver/records/records.hpp"

#include "experiments/driver/records/percentage.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>

namespace tutti {

RecordColumn RecordColumn::as(ColumnRole is_for) const {
  RecordColumn column = *this;
  column.role = is_for;
  return column;
}

RecordColumn RecordColumn::shown(std::uint8_t may_go, std::string heading) const {
  RecordColumn column = *this;
  column.spare = may_go;
  column.title = std::move(heading);
  return column;
}

std::string_view name_without_unit(const RecordColumn& column) {
  // Values of facts are written as they are: without it nobody would know their unit.
  return column.quantity == Quantity::fact ? std::string_view(column.name)
                                           : without_unit(column.name);
}

std::string title_of(const RecordColumn& column) {
  if (!column.title.empty()) return column.title;
  std::string title(name_without_unit(column));
  std::ranges::replace(title, '_', ' ');
  return title;
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

namespace {

/// "a, b" of words, "a b; c" of phrases.
std::string texts_text(const std::vector<std::string>& texts) {
  const auto is_phrase = [](const std::string& text) { return text.find(' ') != text.npos; };
  return joined(texts, std::ranges::any_of(texts, is_phrase) ? "; " : ", ");
}

} // namespace

std::string exact_text(const Cell& cell, Quantity quantity) {
  if (!cell.is_known()) return "";
  switch (quantity) {
  case Quantity::text:
  case Quantity::numeral: return cell.text();
  case Quantity::texts: return texts_text(cell.texts());
  case Quantity::truth: return cell.holds() ? "true" : "false";
  case Quantity::count:
  case Quantity::bytes:
  case Quantity::time: return fmt::to_string(cell.whole());
  case Quantity::rate: return fmt::format("{:.0f}", cell.number());
  case Quantity::ratio:
  case Quantity::part: return fmt::format("{:.6f}", cell.number());
  case Quantity::number:
  case Quantity::amount: return fmt::format("{:.6g}", cell.number());
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

std::string seconds_text(double seconds) { return fmt::format("{:.3f} s", seconds); }

std::string amount_text(double amount) {
  if (amount >= 1e12) return fmt::format("{:.4g} T", amount / 1e12);
  if (amount >= 1e9) return fmt::format("{:.4g} G", amount / 1e9);
  return fmt::format("{:.4g} M", amount / 1e6);
}

namespace {

/// Keys are exact, so that they can be typed.
std::string short_text(const Cell& cell, const RecordColumn& column) {
  if (!cell.is_known()) return "-";
  switch (column.quantity) {
  case Quantity::bytes:
    return column.role == ColumnRole::key ? to_text(Bytes{cell.whole()})
                                          : short_text(Bytes{cell.whole()});
  case Quantity::time: return cell.whole() == 0 ? "0 s" : short_text(Time{cell.whole()});
  case Quantity::rate: return short_rate_text(cell.number());
  case Quantity::ratio: return fmt::format("{:.3f}x", cell.number());
  case Quantity::part: return percent_text(cell.number());
  case Quantity::seconds: return short_text(time_of_seconds(cell.number()));
  case Quantity::effort: return seconds_text(cell.number());
  case Quantity::amount: return amount_text(cell.number());
  case Quantity::texts: return cell.texts().empty() ? "-" : texts_text(cell.texts());
  case Quantity::text:
  case Quantity::numeral:
  case Quantity::truth:
  case Quantity::count:
  case Quantity::number:
  case Quantity::fact: break;
  }
  return exact_text(cell, column.quantity);
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

/// Adds the column of these records, under this title.
void add_column(Table& table, const Records& records, std::size_t c, Column column) {
  const RecordColumn& of = records.columns[c];
  const bool is_text = of.quantity == Quantity::text || of.quantity == Quantity::texts ||
                       of.quantity == Quantity::truth;
  column.align = is_text ? Align::left : Align::right;
  column.wraps = of.role == ColumnRole::note;
  column.is_label = of.role == ColumnRole::key;
  column.names.emplace_back(of.name);
  column.names.emplace_back(name_without_unit(of));
  table.columns.push_back(std::move(column));
  for (std::size_t r = 0; r < records.rows.size(); ++r)
    table.rows[r].push_back(short_text(records.rows[r][c], of));
}

} // namespace

Table whole_table(const Records& records) {
  Table table;
  table.rows.resize(records.rows.size());
  for (std::size_t c = 0; c < records.columns.size(); ++c)
    add_column(table, records, c, {title_of(records.columns[c]), {}, records.columns[c].spare});
  return table;
}

Table records_table(const Records& records) {
  Records shown;
  shown.rows.resize(records.rows.size());
  for (std::size_t c = 0; c < records.columns.size(); ++c) {
    if (!is_shown(records, c)) continue;
    shown.columns.push_back(records.columns[c]);
    for (std::size_t r = 0; r < records.rows.size(); ++r)
      shown.rows[r].push_back(records.rows[r][c]);
  }
  return whole_table(shown);
}

Table records_table(const Records& records, std::span<const ShownColumn> shown,
                    const TableForm& form) {
  Table table;
  table.rows.resize(records.rows.size());
  std::set<std::string_view> taken;
  for (const ShownColumn& each : shown) {
    const auto at = std::ranges::find(records.columns, each.name, name_without_unit);
    assert(at != records.columns.end() && "a column of the records");
    add_column(table, records, static_cast<std::size_t>(at - records.columns.begin()),
               {title_of(*at), {}, each.spare});
    if (!each.alias.empty()) table.columns.back().names.push_back(each.alias);
    taken.insert(name_without_unit(*at));
  }
  for (std::size_t c = 0; c < records.columns.size() && !form.columns.empty(); ++c)
    if (taken.insert(name_without_unit(records.columns[c])).second)
      add_column(table, records, c, {title_of(records.columns[c])});
  return table;
}

std::vector<std::string> column_names(std::span<const RecordColumn> columns,
                                      std::span<const ShownColumn> shown) {
  std::vector<std::string> names;
  for (const ShownColumn& each : shown) {
    names.push_back(column_name(each.name));
    if (!each.alias.empty()) names.push_back(each.alias);
  }
  for (const RecordColumn& column : columns) {
    names.push_back(column_name(name_without_unit(column)));
    names.push_back(column_name(title_of(column)));
  }
  return names;
}

} // namespace tutti
