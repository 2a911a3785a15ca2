// Texts repeat in every row (the name of an algorithm), so a column keeps each once and rows keep
// its number: a million points fit into memory, and comparing two texts is comparing two integers.
#include "experiments/driver/sweep/space/point_table.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <cassert>

namespace tutti::sweep {

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

} // namespace

Value TableColumn::value(std::size_t row) const {
  assert(has(row));
  const bool is_number = !std::isnan(numbers[row]);
  if (texts[row] == 0) return number_value(numbers[row], unit);
  if (is_number) return boolean_value(numbers[row] != 0);
  return {Value::Kind::text, Unit::none, 0, dictionary[texts[row] - 1]};
}

void TableColumn::add(const Value& value) {
  const bool is_number = value.kind == Value::Kind::number;
  numbers.push_back(value.kind == Value::Kind::text ? no_number : value.number);
  texts.push_back(is_number ? 0 : place_of(to_text(value)));
  if (is_number && unit == Unit::none) unit = value.unit;
}

void TableColumn::add_nothing() {
  numbers.push_back(no_number);
  texts.push_back(0);
}

std::uint32_t TableColumn::place_of(const std::string& text) {
  const auto [entry, is_new] =
      places.try_emplace(text, static_cast<std::uint32_t>(dictionary.size() + 1));
  if (is_new) dictionary.push_back(text);
  return entry->second;
}

const TableColumn* PointTable::find(std::string_view name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const TableColumn& each) { return each.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

const TableColumn& PointTable::column(std::string_view name) const {
  if (const TableColumn* found = find(name)) return *found;
  std::vector<std::string> known;
  for (const TableColumn& each : columns) known.push_back(each.name);
  throw InputError(unknown_name("column", name, known));
}

} // namespace tutti::sweep
