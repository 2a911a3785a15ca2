// A sweep may have millions of points: rows are written one by one.
#include "experiments/driver/sweep/report/points_csv.hpp"

#include "experiments/driver/sweep/analysis/cells.hpp"
#include "sim/files/csv.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace tutti::sweep {

namespace {

std::vector<const TableColumn*> written_columns(const PointTable& table) {
  std::vector<const TableColumn*> columns;
  for (const Role role : {Role::parameter, Role::derived, Role::fact, Role::result})
    for (const TableColumn& column : table.columns)
      if (column.role == role) columns.push_back(&column);
  for (const char* name : {"status", "message"})
    if (const TableColumn* column = table.find(name)) columns.push_back(column);
  return columns;
}

void each_point_row(const PointTable& table, std::size_t most,
                    const std::function<void(const std::vector<std::string>&)>& use) {
  const std::vector<const TableColumn*> columns = written_columns(table);
  std::vector<std::string> cells;
  for (const TableColumn* column : columns)
    cells.push_back(column_title(column->name, column->unit));
  use(cells);
  for (std::size_t row = 0; row < std::min(table.rows, most); ++row) {
    for (std::size_t c = 0; c < columns.size(); ++c)
      cells[c] = columns[c]->has(row) ? exact_text(columns[c]->value(row)) : "";
    use(cells);
  }
}

} // namespace

std::string points_csv(const PointTable& table) {
  std::string csv;
  each_point_row(table, SIZE_MAX, [&](const auto& cells) { csv += csv_text({&cells, 1}); });
  return csv;
}

std::vector<std::vector<std::string>> point_rows(const PointTable& table, std::size_t most) {
  std::vector<std::vector<std::string>> rows;
  each_point_row(table, most, [&](const auto& cells) { rows.push_back(cells); });
  return rows;
}

} // namespace tutti::sweep
