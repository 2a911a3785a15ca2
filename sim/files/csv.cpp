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

constexpr std::string_view csv_spaces = " \t\r"; // the last one at the end of a line

/// With `is_padded` spaces around fields mean nothing.
std::vector<CsvField> split_fields(std::string_view line, const std::string& place, char separator,
                                   bool is_padded) {
  const auto fail = [&](std::size_t at, const char* why) {
    throw InputError(place + ":" + std::to_string(at + 1) + ": " + why);
  };
  const auto skip = [&](std::size_t at) {
    while (is_padded && at < line.size() && line[at] != separator &&
           csv_spaces.find(line[at]) != std::string_view::npos)
      ++at;
    return at;
  };
  std::vector<CsvField> fields;
  for (std::size_t at = 0;; ++at) { // behind the separator
    at = skip(at);
    CsvField field{{}, at + 1};
    if (at < line.size() && line[at] == '"') {
      const std::size_t from = at;
      for (++at;; ++at) {
        if (at >= line.size()) fail(from, "a quote that isn't closed");
        if (line[at] == '"' && (++at >= line.size() || line[at] != '"')) break;
        field.text += line[at];
      }
      at = skip(at);
    } else {
      const std::size_t end = std::min(line.find(separator, at), line.size());
      const std::string_view text = line.substr(at, end - at);
      if (const std::size_t quote = text.find('"'); quote != std::string_view::npos)
        fail(at + quote, "a quote within a field that has none around it");
      field.text = is_padded ? text.substr(0, text.find_last_not_of(csv_spaces) + 1) : text;
      at = end;
    }
    fields.push_back(std::move(field));
    if (at >= line.size()) return fields;
    if (line[at] != separator) fail(at, "a separator is missing behind a quote");
  }
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
  return split_fields(line, place, ',', false);
}

std::vector<CsvRow> csv_rows(std::string_view text, const std::string& file, char separator) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<CsvRow> rows;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t first = line.find_first_not_of(csv_spaces);
    if (first == std::string_view::npos || line[first] == '#') continue;
    rows.push_back(
        {number, split_fields(line, file + ":" + std::to_string(number), separator, true)});
  }
  return rows;
}

} // namespace tutti
