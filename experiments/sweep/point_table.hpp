// The points of a study as columns, for analyses of up to millions of them.
#pragma once

#include "experiments/sweep/value.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::sweep {

enum class Role : std::uint8_t { parameter, derived, fact, result, record };

struct TableColumn {
  std::string name;
  Role role = Role::record;
  Unit unit = Unit::none;
  std::vector<double> numbers;         ///< [row]; NaN: a text, or nothing
  std::vector<std::uint32_t> texts;    ///< [row]: 1 + index into `dictionary`; 0: no text
  std::vector<std::string> dictionary; ///< each once

  [[nodiscard]] bool has(std::size_t row) const {
    return texts[row] != 0 || !std::isnan(numbers[row]);
  }
  [[nodiscard]] Value value(std::size_t row) const; ///< Pre: has(row)
  void add(const Value& value);
  void add_nothing();
};

struct PointTable {
  std::vector<TableColumn> columns;
  std::size_t rows = 0;

  /// Errors: InputError naming what is there.
  [[nodiscard]] const TableColumn& column(std::string_view name) const;
  [[nodiscard]] const TableColumn* find(std::string_view name) const;
};

} // namespace tutti::sweep
