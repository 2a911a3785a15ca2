// Text tables for the terminal: columns with titles and alignment, any number of rows, no wider
// than the terminal where that can be. Widths are counted in terminal cells, so that "µs" or
// "FullyConnected → T" stay aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

enum class Align : std::uint8_t { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  /// Where a table is wider than the terminal, columns with the highest number are left out first;
  /// 0: never.
  std::uint8_t spare = 0;
  bool wraps = false; ///< holds long texts, which go on in further lines where space is short
  std::vector<std::string> names = {}; ///< by which it may be chosen, beside its title
  bool is_label = false;               ///< says what a row is of, not what came out
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows; ///< each with one cell per column
};

/// How a command writes its tables.
struct TableForm {
  std::optional<std::size_t> width = {}; ///< in terminal cells; none: as wide as tables are
  std::vector<std::string> columns = {}; ///< only these, in this order; empty: all
  bool colour = false;                   ///< titles bold, verdicts and statuses coloured
  std::shared_ptr<std::set<std::string>> titles =
      {}; ///< collects those of all tables, if it is there
};

/// Without columns that are empty in all rows.
[[nodiscard]] Table without_empty_columns(Table table);

/// "lower_bound" of "lower_bound_ps": what a CSV's header says is in which unit.
[[nodiscard]] std::string_view without_unit(std::string_view name);

/// As a title is named on a command line: "max link" is "max_link".
[[nodiscard]] std::string column_name(std::string_view title);

/// The table with a newline after each line, a rule of dashes under the titles, two blanks between
/// columns and no trailing blanks. A line break or another control character in a cell becomes a
/// blank. Where the form has a width that the table exceeds, columns that wrap become narrower (16
/// cells at least), then columns are left out, and a last line names them; a table of the others
/// that is still wider stays so. No chosen column is left out. A table shows those of the chosen
/// columns that it has (they may be named with their unit, "size_bytes"); where these are only
/// labels and others were chosen, too, it is empty. Pre: rows have one cell per column. Cost:
/// O(total length).
[[nodiscard]] std::string to_text(const Table& table, const TableForm& form = {});

/// The text with a terminal's codes where a table in colour has marks, and `rest` of what stands
/// between them. Tables mark with characters that Unicode reserves for such a use, which no cell
/// has.
[[nodiscard]] std::string with_colours(std::string_view text,
                                       const std::function<std::string(std::string_view)>& rest);

/// Says that a table has such columns, or could have, so that choosing one is no mistake. A name
/// that ends in * stands for all that begin so.
void know_columns(const TableForm& form, std::span<const std::string> names);

/// Lines that are wider than the form's width go on in further lines, indented by two blanks.
[[nodiscard]] std::string wrapped(std::string_view text, const TableForm& form);

/// Errors: InputError for a chosen column that none of the tables written in this form had.
void require_known_columns(const TableForm& form);

/// As much of the text's beginning as fits into so many terminal cells.
[[nodiscard]] std::string beginning(std::string_view text, std::size_t width);

/// How many terminal cells the UTF-8 text fills: one per code point, none for combining marks, two
/// for East Asian wide characters and emoji; a byte that isn't UTF-8 counts one.
[[nodiscard]] std::size_t display_width(std::string_view text);

} // namespace tutti
