// Labels, messages and expressions of a sweep are a user's own text and stand on a page: all of it
// passes through escaped(), so that no sweep can put markup there.
#include "experiments/driver/sweep/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::sweep {

namespace {

std::string_view entity(char c) {
  switch (c) {
  case '&': return "&amp;";
  case '<': return "&lt;";
  case '>': return "&gt;";
  case '"': return "&quot;";
  case '\'': return "&#39;";
  default: return {};
  }
}

// `after` behind each `mark`, but for what has been put there.
void insert_after(std::string& text, std::string_view mark, std::string_view after) {
  for (std::size_t at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + mark.size() + after.size()))
    text.insert(at + mark.size(), after);
}

std::string html_row(const std::vector<Column>& columns, const std::vector<std::string>& cells) {
  std::string text = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i)
    text += fmt::format("<td{}>{}</td>", columns[i].align == Align::right ? " class=\"n\"" : "",
                        escaped(cells[i]));
  return text + "</tr>\n";
}

} // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    const std::string_view name = entity(c);
    if (!name.empty())
      result += name;
    else
      result += control && c != '\n' ? ' ' : c;
  }
  return result;
}

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

std::string inline_svg(std::string_view svg, std::string_view title, std::string_view prefix) {
  const std::size_t begin = svg.find("<svg");
  std::string text(svg.substr(begin == std::string_view::npos ? 0 : begin));
  // An id and everything that refers to it, in both ways of quoting.
  for (const char* mark : {" id='", " id=\"", "href='#", "href=\"#", "url(#"})
    insert_after(text, mark, prefix);
  constexpr std::string_view own_title = "<title>Gnuplot</title>";
  const std::string better = fmt::format("<title>{}</title>", escaped(title));
  if (const std::size_t at = text.find(own_title); at != std::string::npos)
    text.replace(at, own_title.size(), better);
  constexpr std::string_view tag = "<svg";
  if (text.starts_with(tag)) text.insert(tag.size(), " role=\"img\"");
  return text;
}

} // namespace tutti::sweep
