// Rows are grouped as digits of a number: with the levels of one column after the other as digits,
// two rows have the same number just if they are equal in all columns. After each column the
// numbers are made dense again, by counting where they are small and by sorting else, so that they
// never exceed rows x levels and don't overflow.
#include "experiments/driver/sweep/analysis/levels.hpp"

#include "sim/ids.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace tutti::sweep {

namespace {

// [place in the dictionary]: where the text stands among the others.
std::vector<std::uint32_t> ranks_of_texts(const TableColumn& column,
                                          std::span<const std::string> listed) {
  std::map<std::string, std::size_t> place;
  for (const std::string& text : listed) place.try_emplace(text, place.size());
  const auto key = [&](std::uint32_t i) {
    const auto found = place.find(column.dictionary[i]);
    return std::pair(found == place.end() ? place.size() : found->second, column.dictionary[i]);
  };
  std::vector<std::uint32_t> order(column.dictionary.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  std::vector<std::uint32_t> ranks(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) ranks[order[i]] = i;
  return ranks;
}

std::vector<double> distinct_numbers(const TableColumn& column) {
  std::vector<double> numbers;
  for (std::size_t row = 0; row < column.numbers.size(); ++row)
    if (column.texts[row] == 0 && !std::isnan(column.numbers[row]))
      numbers.push_back(column.numbers[row]);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

constexpr std::uint64_t no_key = UINT64_MAX;

// Renumbers keys below `end` without gaps, in their order; how many there are.
std::uint32_t compacted_by_counting(std::vector<std::uint64_t>& keys, std::uint64_t end) {
  std::vector<std::uint32_t> number(end, 0);
  for (const std::uint64_t key : keys)
    if (key != no_key) number[key] = 1;
  std::uint32_t next = 0;
  for (std::uint32_t& each : number) each = each == 1 ? next++ : no_index;
  for (std::uint64_t& key : keys)
    if (key != no_key) key = number[key];
  return next;
}

// The same for keys of any size.
std::uint32_t compacted_by_sorting(std::vector<std::uint64_t>& keys) {
  std::vector<std::uint64_t> sorted(keys);
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  if (!sorted.empty() && sorted.back() == no_key) sorted.pop_back();
  for (std::uint64_t& key : keys)
    if (key != no_key)
      key = static_cast<std::uint64_t>(std::lower_bound(sorted.begin(), sorted.end(), key) -
                                       sorted.begin());
  return static_cast<std::uint32_t>(sorted.size());
}

} // namespace

bool Levels::numeric() const {
  return std::all_of(values.begin(), values.end(),
                     [](const Value& each) { return each.kind == Value::Kind::number; });
}

Levels levels_of(const TableColumn& column, std::span<const std::string> listed) {
  const std::vector<double> numbers = distinct_numbers(column);
  const std::vector<std::uint32_t> ranks = ranks_of_texts(column, listed);
  Levels levels{column.name, column.unit, {}, {}};
  levels.of_row.reserve(column.numbers.size());
  for (const double number : numbers) levels.values.push_back(number_value(number, column.unit));
  levels.values.resize(numbers.size() + ranks.size());
  for (std::size_t row = 0; row < column.numbers.size(); ++row) {
    if (!column.has(row)) {
      levels.of_row.push_back(no_index);
    } else if (column.texts[row] == 0) {
      const auto found = std::lower_bound(numbers.begin(), numbers.end(), column.numbers[row]);
      levels.of_row.push_back(static_cast<std::uint32_t>(found - numbers.begin()));
    } else {
      const std::size_t level = numbers.size() + ranks[column.texts[row] - 1];
      levels.of_row.push_back(static_cast<std::uint32_t>(level));
      levels.values[level] = column.value(row);
    }
  }
  return levels;
}

Grouping grouped(std::span<const Levels* const> columns, std::size_t rows) {
  std::vector<std::uint64_t> keys(rows, 0);
  std::uint32_t groups = rows > 0 ? 1 : 0;
  for (const Levels* column : columns) {
    const std::uint64_t levels = column->values.size();
    for (std::size_t row = 0; row < rows; ++row) {
      const std::uint32_t level = column->of_row[row];
      if (level == no_index || keys[row] == no_key)
        keys[row] = no_key;
      else
        keys[row] = keys[row] * levels + level;
    }
    groups = groups * levels <= 4 * rows ? compacted_by_counting(keys, groups * levels)
                                         : compacted_by_sorting(keys);
  }
  Grouping grouping{std::vector<std::uint32_t>(rows, no_index),
                    std::vector<std::uint32_t>(groups, no_index)};
  for (std::size_t row = 0; row < rows; ++row) {
    if (keys[row] == no_key) continue;
    const auto group = static_cast<std::uint32_t>(keys[row]);
    grouping.of_row[row] = group;
    std::uint32_t& first = grouping.first_row[group];
    if (first == no_index) first = static_cast<std::uint32_t>(row);
  }
  return grouping;
}

} // namespace tutti::sweep
