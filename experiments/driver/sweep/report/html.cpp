// Labels, messages and expressions of a sweep are a user's own text and stand on a page: all of it
// passes through escaped(), so that no sweep can put markup there.
#include "experiments/driver/sweep/report/html.hpp"

#include "experiments/driver/records/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::sweep {

namespace {

std::string html_row(const std::vector<Column>& columns, const std::vector<std::string>& cells) {
  std::string text = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i)
    text += fmt::format("<td{}>{}</td>", columns[i].align == Align::right ? " class=\"n\"" : "",
                        escaped(cells[i]));
  return text + "</tr>\n";
}

} // namespace

std::string html_table(const Table& table, std::size_t most_rows, std::string_view file) {
  std::string text = "<div class=\"wide\"><table>\n<thead><tr>";
  for (const Column& column : table.columns)
    text += fmt::format("<th scope=\"col\"{}>{}</th>",
                        column.align == Align::right ? " class=\"n\"" : "", escaped(column.title));
  text += "</tr></thead>\n<tbody>\n";
  const std::size_t shown = std::min(most_rows, table.rows.size());
  for (std::size_t i = 0; i < shown; ++i) text += html_row(table.columns, table.rows[i]);
  text += "</tbody>\n</table></div>\n";
  if (shown < table.rows.size())
    text += fmt::format("<p class=\"note\">The first {} of {} rows; all are in <a "
                        "href=\"{}\">{}</a>.</p>\n",
                        shown, table.rows.size(), escaped(file), escaped(file));
  return text;
}

std::string inline_svg(std::string_view svg, std::string_view title) {
  constexpr std::string_view tag = "<svg";
  return fmt::format("{} role=\"img\" aria-label=\"{}\"{}", tag, escaped(title),
                     svg.substr(tag.size()));
}

} // namespace tutti::sweep
