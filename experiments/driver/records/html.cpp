// Labels, messages and expressions are a user's own text and stand on a page: all of it passes
// through escaped(), so that no file can put markup there. A page can be mailed or kept: styles and
// pictures are inline and there is no script, so that it needs no server and nothing from
// elsewhere.
#include "experiments/driver/records/html.hpp"

#include "experiments/driver/records/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti {

namespace {

constexpr std::string_view page_style = R"(
:root { color-scheme: light dark; --text: #1c1c1e; --faint: #63636b; --line: #d9d9de;
  --paper: #ffffff; --shade: #f4f4f6; --link: #2a5db0; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8e8ec; --faint: #a2a2ac; --line: #3c3c44; --paper: #17171a; --shade: #222228;
    --link: #8ab4f8; }
}
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 68rem; background: var(--paper);
  color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .4rem; padding-top: .6rem;
  border-top: 1px solid var(--line); }
a { color: var(--link); }
p, li { max-width: 46rem; }
.faint, .note { color: var(--faint); }
.note { font-size: .92rem; }
nav ol { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; list-style: none; }
nav h2 { display: none; }
.wide { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
td:first-child { min-width: 9rem; }
th { background: var(--shade); font-weight: 600; }
th.n, td.n { text-align: right; white-space: nowrap; }
figure { margin: 1.2rem 0; overflow-x: auto; }
figure svg { display: block; max-width: 100%; min-width: 32rem; height: auto; background: #ffffff;
  border: 1px solid var(--line); border-radius: 6px; }
details { margin: .8rem 0; }
summary { cursor: pointer; color: var(--link); }
.findings { background: var(--shade); border-radius: 6px; padding: .2rem 1.2rem;
  max-width: 50rem; }
.findings h2 { border-top: 0; margin-top: .6rem; }
.findings ul { padding-left: 1.1rem; }
.findings li { margin: .35rem 0; }
@media (max-width: 40rem) {
  body { padding: 1rem .8rem 3rem; }
  h1 { font-size: 1.35rem; }
  .findings { padding: .1rem .8rem; }
}
figcaption { color: var(--faint); font-size: .92rem; margin-top: .3rem; }
pre { background: var(--shade); padding: .8rem; overflow-x: auto; font-size: .85rem; }
)";

std::string html_row(const std::vector<Column>& columns, const std::vector<std::string>& cells) {
  std::string text = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i)
    text += fmt::format("<td{}>{}</td>", columns[i].align == Align::right ? " class=\"n\"" : "",
                        escaped(cells[i]));
  return text + "</tr>\n";
}

} // namespace

std::string page_head(std::string_view title, std::string_view line) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<header>\n<h1>{}</h1>\n"
      "<p class=\"faint\">{}</p>\n</header>\n",
      escaped(title), page_style, escaped(title), escaped(line));
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

std::string inline_svg(std::string_view svg, std::string_view title) {
  constexpr std::string_view tag = "<svg";
  return fmt::format("{} role=\"img\" aria-label=\"{}\"{}", tag, escaped(title),
                     svg.substr(tag.size()));
}

} // namespace tutti
