// Cells of records, and of their CSV, by the names of columns.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace tutti {

inline const Cell& cell_of(const Records& records, std::size_t row, const std::string& column) {
  const auto found = std::ranges::find(records.columns, column, &RecordColumn::name);
  REQUIRE(found != records.columns.end());
  return records.rows.at(row).at(static_cast<std::size_t>(found - records.columns.begin()));
}

/// The text of a cell of a CSV file; row 0 has the names.
inline std::string cell_of(const std::vector<std::vector<std::string>>& rows, std::size_t row,
                           const std::string& column) {
  const auto found = std::ranges::find(rows.at(0), column);
  REQUIRE(found != rows[0].end());
  REQUIRE(rows.at(row).size() == rows[0].size());
  return rows[row][static_cast<std::size_t>(found - rows[0].begin())];
}

} // namespace tutti
