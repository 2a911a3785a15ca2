// The distinct values of a column, in order, and rows grouped by the values of several columns.
#pragma once

#include "experiments/driver/sweep/space/point_table.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::sweep {

struct Levels {
  std::string name; ///< of the column
  Unit unit = Unit::none;
  std::vector<Value> values;         ///< ascending numbers, then texts and booleans
  std::vector<std::uint32_t> of_row; ///< index into `values`; no_index: the row has nothing

  [[nodiscard]] bool numeric() const; ///< all are numbers; true without values
};

/// `listed`: texts in the order that they are to have; others follow in that of the alphabet.
/// Cost: O(rows log rows).
[[nodiscard]] Levels levels_of(const TableColumn& column, std::span<const std::string> listed);

/// Rows that have equal levels in all of some columns.
struct Grouping {
  std::vector<std::uint32_t> of_row;    ///< group; no_index: the row has nothing in some column
  std::vector<std::uint32_t> first_row; ///< [group]
  [[nodiscard]] std::size_t size() const { return first_row.size(); }
};

/// Groups are ordered by the level of the first column, then of the second ... Without columns all
/// rows are one group. Cost: O(columns * rows log rows).
[[nodiscard]] Grouping grouped(std::span<const Levels* const> columns, std::size_t rows);

} // namespace tutti::sweep
