// A page that can be mailed or kept: styles and pictures are inline and there is no script, so that
// it needs no server and nothing from elsewhere. Who reads only its beginning knows what came out;
// who looks only at what is in sight sees ten pictures, some of each analysis. It shows the first
// 60 rows of a table, for a browser is slow with a hundred thousand, and links the CSV that has
// all.
#include "experiments/driver/sweep/report/sweep_page.hpp"

#include "experiments/driver/records/html.hpp"
#include "experiments/driver/records/printable.hpp"
#include "experiments/driver/sweep/analysis/cells.hpp"
#include "experiments/driver/sweep/analysis/levels.hpp"
#include "experiments/driver/sweep/space/point_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace tutti::sweep {

namespace {

constexpr std::size_t most_rows = 60;
constexpr std::size_t most_pictures = 10; ///< in sight
constexpr std::size_t most_open_rows = 12;

std::string link(std::string_view file) {
  return fmt::format("<a href=\"{0}\">{0}</a>", escaped(file));
}

std::string section_id(std::size_t i) { return fmt::format("analysis-{}", i + 1); }

std::string contents(std::span<const PageSection> sections, bool problems) {
  std::string text = "<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n<ol>\n"
                     "<li><a href=\"#conclusions\">Conclusions</a></li>\n";
  for (std::size_t i = 0; i < sections.size(); ++i)
    text += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section_id(i),
                        escaped(sections[i].report.title));
  text += "<li><a href=\"#varied\">What was varied</a></li>\n"
          "<li><a href=\"#points\">Points</a></li>\n";
  if (problems) text += "<li><a href=\"#problems\">What has no result</a></li>\n";
  return text + "<li><a href=\"#sweep\">The sweep</a></li>\n</ol>\n</nav>\n";
}

// "1 KiB to 1 GiB", or the values where they are texts or few.
std::string extent_text(const Levels& levels) {
  constexpr std::size_t most = 12;
  const std::size_t n = levels.values.size();
  if (levels.numeric() && n > 4)
    return display_text(levels.values.front()) + " to " + display_text(levels.values.back());
  std::string text;
  for (std::size_t i = 0; i < std::min(n, most); ++i)
    text += (i == 0 ? "" : ", ") + display_text(levels.values[i]);
  return n > most ? fmt::format("{} and {} more", text, n - most) : text;
}

Table parameter_table(AnalysedPoints& points) {
  Table table{{{"parameter"}, {"values", Align::right}, {"which"}}, {}};
  for (const TableColumn& column : points.table().columns) {
    if (column.role != Role::parameter) continue;
    const Levels& levels = points.levels(column.name);
    table.rows.push_back({column.name, fmt::to_string(levels.values.size()), extent_text(levels)});
  }
  return table;
}

Table objective_table(const Sweep& sweep) {
  Table table{{{"objective"}, {"is"}, {"better"}}, {}};
  for (const Objective& each : sweep.objectives)
    table.rows.push_back({each.name, each.expression, each.maximise ? "more" : "less"});
  return table;
}

std::string varied_section(const Sweep& sweep, const PointTable& table) {
  AnalysedPoints points(sweep, table);
  std::string text = "<section id=\"varied\">\n<h2>What was varied</h2>\n" +
                     html_table(parameter_table(points), most_rows, "points.csv");
  if (!sweep.constraints.empty()) {
    text += "<p>Left out are points for which one of these doesn't hold:</p>\n<ul>\n";
    for (const Constraint& each : sweep.constraints)
      text += fmt::format("<li><code>{}</code></li>\n", escaped(each.expression));
    text += "</ul>\n";
  }
  if (!sweep.objectives.empty())
    text += html_table(objective_table(sweep), most_rows, "points.csv");
  return text + "</section>\n";
}

std::string points_section(const PointTable& table) {
  return fmt::format("<section id=\"points\">\n<h2>Points</h2>\n<p>{} points; all of them, with "
                     "their results: {}. Analyses see those that are done.</p>\n{}</section>\n",
                     table.rows, link("points.csv"),
                     html_table(status_table(table), most_rows, "points.csv"));
}

// That points failed must not be seen in a log only.
std::string problems_section(const Table& problems) {
  if (problems.rows.empty()) return "";
  return "<section id=\"problems\">\n<h2>What has no result</h2>\n" +
         html_table(problems, most_rows, "points.csv") + "</section>\n";
}

/// How many pictures of each section are in sight: in turns, so that every analysis shows one
/// before any shows two.
std::vector<std::size_t> pictures_in_sight(std::span<const PageSection> sections) {
  std::vector<std::size_t> shown(sections.size(), 0), all(sections.size(), 0);
  for (std::size_t i = 0; i < sections.size(); ++i) all[i] = sections[i].figures.size();
  std::size_t left = most_pictures;
  for (bool any = true; any && left > 0;) {
    any = false;
    for (std::size_t i = 0; i < sections.size() && left > 0; ++i)
      if (shown[i] < all[i]) {
        ++shown[i];
        --left;
        any = true;
      }
  }
  return shown;
}

std::string figures_text(const PageSection& section, std::size_t in_sight) {
  std::string text, folded;
  std::size_t pictures = 0;
  for (const PageFigure& figure : section.figures)
    (pictures++ < in_sight ? text : folded) +=
        fmt::format("<figure>\n{}\n<figcaption>{} ({})</figcaption>\n</figure>\n",
                    inline_svg(figure.svg, figure.title), escaped(figure.title), link(figure.file));
  if (folded.empty()) return text;
  const std::size_t more = pictures - in_sight;
  return text + fmt::format("<details>\n<summary>{} more picture{}</summary>\n{}</details>\n", more,
                            more == 1 ? "" : "s", folded);
}

std::string table_text(const PageSection& section) {
  const Table& table = section.report.table;
  if (table.rows.empty()) return "<p class=\"note\">No point has a result to show.</p>\n";
  const std::string text = html_table(table, most_rows, section.csv_file);
  if (table.rows.size() <= most_open_rows) return text;
  return fmt::format("<details>\n<summary>Table of {} rows</summary>\n{}</details>\n",
                     table.rows.size(), text);
}

std::string analysis_section(const PageSection& section, std::size_t index, std::size_t in_sight) {
  const AnalysisReport& report = section.report;
  std::string text =
      fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", section_id(index), escaped(report.title));
  for (const std::string& conclusion : report.conclusions)
    text += fmt::format("<p>{}</p>\n", escaped(conclusion));
  text += figures_text(section, in_sight) +
          fmt::format("<p class=\"note\">{}</p>\n", escaped(report.explanation));
  for (const std::string& note : report.notes)
    text += fmt::format("<p class=\"note\">{}</p>\n", escaped(note));
  text += table_text(section);
  text += "<p class=\"note\">Files: " + link(section.csv_file);
  if (!section.json_file.empty()) text += ", " + link(section.json_file);
  return text + "</p>\n</section>\n";
}

// What each analysis says, in the words that it found for its own numbers.
std::string conclusions_section(std::span<const PageSection> sections, const PointTable& table) {
  const TableColumn& status = table.column("status");
  const auto done = static_cast<std::size_t>(std::ranges::count_if(
      status.texts, [&](auto text) { return text != 0 && status.dictionary[text - 1] == "done"; }));
  std::string text =
      "<section id=\"conclusions\" class=\"findings\">\n<h2>Conclusions</h2>\n<ul>\n";
  for (std::size_t i = 0; i < sections.size(); ++i)
    for (const std::string& conclusion : sections[i].report.conclusions)
      text += fmt::format("<li><a href=\"#{}\">{}</a>: {}</li>\n", section_id(i),
                          escaped(sections[i].report.title), escaped(conclusion));
  return text + fmt::format("<li><a href=\"#points\">Points</a>: {} of {} have a "
                            "result.</li>\n</ul>\n</section>\n",
                            done, table.rows);
}

} // namespace

Table status_table(const PointTable& table) {
  const TableColumn& status = table.column("status");
  std::map<PointStatus, std::size_t> counts;
  for (std::size_t row = 0; row < table.rows; ++row)
    if (status.has(row)) ++counts[status_words.parse(status.value(row).text)];
  Table result{{{"status"}, {"points", Align::right}}, {}};
  for (const auto& [each, count] : counts)
    result.rows.push_back({std::string(to_text(each)), fmt::to_string(count)});
  return result;
}

Table problem_table(const PointTable& table) {
  const TableColumn& status = table.column("status");
  const TableColumn* message = table.find("message");
  std::map<std::pair<std::string, std::string>, std::size_t> counts; // by status and message
  for (std::size_t row = 0; row < table.rows; ++row) {
    const std::string name = status.has(row) ? status.value(row).text : "";
    // Points that haven't been run are no problem.
    if (name == "done" || name == "pending" || name == "running") continue;
    const bool has_message = message != nullptr && message->has(row);
    ++counts[{name, has_message ? message->value(row).text : ""}];
  }
  std::vector<std::pair<std::pair<std::string, std::string>, std::size_t>> problems(counts.begin(),
                                                                                    counts.end());
  std::ranges::stable_sort(problems, std::greater<>(),
                           [](const auto& each) { return each.second; });
  Table result{{{"points", Align::right}, {"status"}, {"message"}}, {}};
  for (const auto& [words, count] : problems)
    result.rows.push_back({fmt::to_string(count), words.first, words.second});
  return result;
}

std::string sweep_page(const Sweep& sweep, const PointTable& table,
                       std::span<const PageSection> sections) {
  const std::string title = sweep.title.empty() ? sweep.name : sweep.title;
  const Table problems = problem_table(table);
  std::string page = page_head(
      title, fmt::format("Sweep {}: {} points, seed {}", sweep.name, table.rows, sweep.seed));
  page += conclusions_section(sections, table) + contents(sections, !problems.rows.empty()) +
          "<main>\n";
  const std::vector<std::size_t> in_sight = pictures_in_sight(sections);
  for (std::size_t i = 0; i < sections.size(); ++i)
    page += analysis_section(sections[i], i, in_sight[i]);
  page += varied_section(sweep, table) + points_section(table) + problems_section(problems);
  page += fmt::format("<section id=\"sweep\">\n<h2>The sweep</h2>\n<pre>{}</pre>\n</section>\n",
                      escaped(sweep.toml));
  return page + "</main>\n" + std::string(page_end);
}

} // namespace tutti::sweep
