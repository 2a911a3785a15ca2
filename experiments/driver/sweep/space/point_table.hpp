// The points of a sweep as columns, for analyses of up to millions of them.
#pragma once

#include "sim/expressions/value.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tutti::sweep {

enum class Role : std::uint8_t { parameter, derived, fact, result, record };

/// A boolean has both a number, 0 or 1, and a text, "false" or "true".
struct TableColumn {
  std::string name;
  Role role = Role::record;
  Unit unit = Unit::none;                   ///< of all numbers
  std::vector<double> numbers = {};         ///< [row]; NaN: a text, or nothing
  std::vector<std::uint32_t> texts = {};    ///< [row]: 1 + index into `dictionary`; 0: no text
  std::vector<std::string> dictionary = {}; ///< each once
  std::unordered_map<std::string, std::uint32_t> places = {}; ///< of `dictionary`, from 1

  [[nodiscard]] bool has(std::size_t row) const {
    return texts[row] != 0 || !std::isnan(numbers[row]);
  }
  [[nodiscard]] Value value(std::size_t row) const; ///< Pre: has(row)
  /// A new row. Where the column has no unit yet, it gets that of the number.
  void add(const Value& value);
  void add_nothing();

private:
  std::uint32_t place_of(const std::string& text);
};

struct PointTable {
  std::vector<TableColumn> columns;
  std::size_t rows = 0;

  /// Errors: InputError naming what is there.
  [[nodiscard]] const TableColumn& column(std::string_view name) const;
  [[nodiscard]] const TableColumn* find(std::string_view name) const;
};

} // namespace tutti::sweep
