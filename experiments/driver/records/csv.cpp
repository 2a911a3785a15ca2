// Quotes only where they are needed, so that the files stay readable and diffs small.
#include "experiments/driver/records/csv.hpp"

#include <string_view>

namespace tutti {

namespace {

void append_cell(std::string& text, std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) {
    text += cell;
    return;
  }
  text += '"';
  for (const char c : cell) {
    if (c == '"') text += '"';
    text += c;
  }
  text += '"';
}

} // namespace

std::string csv_text(std::span<const std::vector<std::string>> rows) {
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    if (row.size() == 1 && row.front().empty()) text += "\"\"";
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ',';
      append_cell(text, row[i]);
    }
    text += '\n';
  }
  return text;
}

} // namespace tutti
