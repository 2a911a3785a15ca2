// Text tables for the terminal: columns with titles and alignment, any number of rows. Widths are
// counted in terminal cells, so that "µs" or "FullyConnected → T" stay aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

enum class Align : std::uint8_t { left, right };

enum class TableLines : std::uint8_t {
  plain, ///< a rule of dashes under the titles, two blanks between columns
  ascii, ///< `+---+` and `|` all around
  box,   ///< the same with box-drawing characters
};

struct Column {
  std::string title;
  Align align = Align::left;
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows; ///< each with one cell per column
};

/// The table with a newline after each line and no trailing blanks. A line break or another control
/// character in a cell becomes a blank.
/// Pre: rows have one cell per column. Cost: O(total length).
[[nodiscard]] std::string to_text(const Table& table, TableLines lines = TableLines::plain);

/// How many terminal cells the UTF-8 text fills: one per code point, none for combining marks, two
/// for East Asian wide characters and emoji; a byte that isn't UTF-8 counts one.
[[nodiscard]] std::size_t display_width(std::string_view text);

} // namespace tutti
