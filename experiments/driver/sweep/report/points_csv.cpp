// The table may have millions of cells: texts are quoted once each, and numbers written straight
// into the result.
#include "experiments/driver/sweep/report/points_csv.hpp"

#include "experiments/driver/sweep/report/cells.hpp"
#include "sim/files/csv.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <vector>

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

// A text as a cell of a row that has others.
std::string quoted_cell(const std::string& text) {
  const std::array row{std::vector<std::string>{text, ""}};
  std::string line = csv_text(row); // TEXT,\n
  line.resize(line.size() - 2);
  return line;
}

} // namespace

std::string points_csv(const PointTable& table) {
  const std::vector<const TableColumn*> columns = written_columns(table);
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> texts; // [column][place in the dictionary]
  for (const TableColumn* column : columns) {
    header.push_back(column_title(column->name, column->unit));
    texts.emplace_back();
    for (const std::string& text : column->dictionary) texts.back().push_back(quoted_cell(text));
  }
  std::string csv = csv_text(std::array{header});
  for (std::size_t row = 0; row < table.rows; ++row) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (c > 0) csv += ',';
      const TableColumn& column = *columns[c];
      if (column.texts[row] != 0)
        csv += texts[c][column.texts[row] - 1];
      else if (column.has(row))
        fmt::format_to(std::back_inserter(csv), "{}", column.numbers[row] + 0.0);
    }
    csv += '\n';
  }
  return csv;
}

} // namespace tutti::sweep
