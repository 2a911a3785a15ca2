// Comma-separated values as RFC 4180 has them, but with "\n" line ends (sec. 2 allows CRLF only;
// all readers take both, and diff and grep want LF).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// One line per row. A cell with a comma, a quote or a line break is quoted, its quotes doubled; a
/// row that is one empty cell becomes `""`, so that it isn't taken for a blank line.
[[nodiscard]] std::string csv_text(std::span<const std::vector<std::string>> rows);

struct CsvField {
  std::string text;
  std::size_t column = 1; ///< in bytes
};
/// The fields of one line, without its end; line breaks within a field aren't known. place:
/// file:line. Errors: InputError with file:line:column for quotes that aren't where they belong.
[[nodiscard]] std::vector<CsvField> csv_fields(std::string_view line, const std::string& place);

struct CsvRow {
  std::size_t line = 1;
  std::vector<CsvField> fields;
};
/// A table as people and their programs write it: spaces around fields, lines without anything and
/// a byte order mark mean nothing, lines may end in "\r\n", and those that begin with # are
/// remarks. Errors: as above.
[[nodiscard]] std::vector<CsvRow> csv_rows(std::string_view text, const std::string& file,
                                           char separator = ',');

} // namespace tutti
