// Comma-separated values as RFC 4180 has them, but with "\n" line ends (sec. 2 allows CRLF only;
// all readers take both, and diff and grep want LF).
#pragma once

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// One line per row. A cell with a comma, a quote or a line break is quoted, its quotes doubled; a
/// row that is one empty cell becomes `""`, so that it isn't taken for a blank line.
[[nodiscard]] std::string csv_text(std::span<const std::vector<std::string>> rows);

} // namespace tutti
