// Quotes only where they are needed, so that the files stay readable and diffs small.
#include "sim/files/csv.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <utility>

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

std::vector<CsvField> csv_fields(std::string_view line, const std::string& place) {
  const auto fail = [&](std::size_t column, const char* why) {
    throw InputError(place + ":" + std::to_string(column) + ": " + why);
  };
  std::vector<CsvField> fields;
  for (std::size_t at = 0;; ++at) { // behind the comma
    CsvField field{{}, at + 1};
    if (at < line.size() && line[at] == '"') {
      for (++at;; ++at) {
        if (at >= line.size()) fail(field.column, "a quote that isn't closed");
        if (line[at] == '"' && (++at >= line.size() || line[at] != '"')) break;
        field.text += line[at];
      }
    } else {
      const std::size_t end = std::min(line.find(',', at), line.size());
      field.text = line.substr(at, end - at);
      at = end;
    }
    fields.push_back(std::move(field));
    if (at >= line.size()) return fields;
    if (line[at] != ',') fail(at + 1, "a comma is missing behind a quote");
  }
}

} // namespace tutti
