// Who doubts a reproduction wants to see what was left out first: a table of all figures and tables
// of the paper heads the page. Verdicts are read from results, so that the page shows what a run
// gave, not what somebody wrote of it.
#include "experiments/driver/results/paper_page.hpp"

#include "experiments/driver/records/html.hpp"
#include "experiments/driver/records/printable.hpp"
#include "experiments/driver/results/result_files.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/files.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <utility>

namespace tutti {

namespace {

std::vector<std::string> texts_at(ConfigTable& table, const std::string& key) {
  std::vector<std::string> texts;
  if (const auto value = table.find(key))
    for (const ConfigValue& text : value->array()) texts.push_back(text.string());
  return texts;
}

PaperPart read_part(ConfigTable table, const std::filesystem::path& folder) {
  table.allow_only({"what", "claim", "experiments", "pictures", "missing"});
  PaperPart part{
      table.at("what").string(), table.at("claim").string(), {}, texts_at(table, "pictures"), ""};
  if (const auto names = table.find("experiments"))
    for (const ConfigValue& name : names->array()) {
      part.experiments.push_back(name.string());
      if (!std::filesystem::exists(folder / (name.string() + ".toml")))
        throw name.error("there is no " + (folder / (name.string() + ".toml")).string());
    }
  if (const auto missing = table.find("missing")) part.missing = missing->string();
  if (part.experiments.empty() && part.missing.empty())
    throw table.error("needs \"experiments\", or why there are none as \"missing\"");
  return part;
}

std::vector<Comparison> comparisons_of(const Paper& paper, const PaperPart& part,
                                       const std::string& results) {
  std::vector<Comparison> all;
  for (const std::string& experiment : part.experiments)
    std::ranges::move(read_comparisons(paper.folder_of(results) + "/" + experiment),
                      std::back_inserter(all));
  return all;
}

bool was_run(const Paper& paper, const std::string& experiment, const std::string& results) {
  return std::filesystem::exists(paper.folder_of(results) + "/" + experiment + "/results.json");
}

std::string part_id(std::size_t i) { return fmt::format("part-{}", i + 1); }

std::string paragraph(const std::string& text, std::string_view of_class = "") {
  return fmt::format("<p{}>{}</p>\n",
                     of_class.empty() ? "" : fmt::format(" class=\"{}\"", of_class), escaped(text));
}

/// A row for each part, and their sum.
std::string coverage(const Paper& paper, const std::string& results) {
  Table table{{{"part"}, {"experiments"}}, {}};
  for (Column& column : verdict_columns()) table.columns.push_back(std::move(column));
  table.columns.push_back({"covered"});
  std::vector<Comparison> sum;
  const auto add = [&table](const std::string& what, const std::string& experiments,
                            std::span<const Comparison> comparisons, const std::string& covered) {
    std::vector<std::string> row{what, experiments};
    std::ranges::move(verdict_cells(comparisons), std::back_inserter(row));
    row.push_back(covered);
    table.rows.push_back(std::move(row));
  };
  for (const PaperPart& part : paper.parts) {
    const std::vector<Comparison> comparisons = comparisons_of(paper, part, results);
    bool is_run = true;
    for (const std::string& experiment : part.experiments)
      is_run = is_run && was_run(paper, experiment, results);
    add(part.what, joined(part.experiments, ", "), comparisons,
        part.experiments.empty() ? "no"
        : !is_run                ? "not run yet"
        : part.missing.empty()   ? "yes"
                                 : "in part");
    sum.insert(sum.end(), comparisons.begin(), comparisons.end());
  }
  add("all", "", sum, "");
  return "<section id=\"coverage\">\n<h2>What is covered</h2>\n" +
         html_table(without_empty_columns(std::move(table)), SIZE_MAX, "") + "</section>\n";
}

std::string contents(const Paper& paper) {
  std::string text = "<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n<ol>\n";
  for (std::size_t i = 0; i < paper.parts.size(); ++i)
    text +=
        fmt::format("<li><a href=\"#{}\">{}</a></li>\n", part_id(i), escaped(paper.parts[i].what));
  return text + "</ol>\n</nav>\n";
}

std::string reading_section(const Paper& paper) {
  if (paper.reading.empty()) return "";
  std::string text = "<section id=\"reading\">\n<h2>How it is read</h2>\n" +
                     paragraph("Where the paper is silent, this is taken for all of it:") +
                     "<ul>\n";
  for (const std::string& line : paper.reading) text += fmt::format("<li>{}</li>\n", escaped(line));
  return text + "</ul>\n</section>\n";
}

std::string picture(const std::string& folder, const std::string& stem, const std::string& title) {
  const std::string file = folder + "/" + stem + ".svg";
  const std::string svg = std::filesystem::exists(file) ? read_file(file) : "";
  const std::size_t begin = svg.find("<svg");
  if (begin == svg.npos) return paragraph("There is no picture " + stem + ".", "note");
  return fmt::format("<figure>\n{}\n<figcaption>{}</figcaption>\n</figure>\n",
                     inline_svg(std::string_view(svg).substr(begin), title), escaped(title));
}

std::string part_section(const Paper& paper, std::size_t i, const std::string& results) {
  const PaperPart& part = paper.parts[i];
  const std::string folder = paper.folder_of(results);
  std::string text =
      fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", part_id(i), escaped(part.what)) +
      paragraph(part.claim);
  for (const std::string& experiment : part.experiments) {
    text += fmt::format("<pre>./tutti run {}</pre>\n", escaped(paper.command_of(experiment)));
    if (!was_run(paper, experiment, results)) text += paragraph("Not run yet.", "note");
  }
  for (const std::string& stem : part.pictures)
    if (was_run(paper, stem.substr(0, stem.find('/')), results))
      text += picture(folder, stem, part.what);
  const std::vector<Comparison> comparisons = comparisons_of(paper, part, results);
  for (const std::string& experiment : part.experiments)
    if (std::filesystem::exists(folder + "/" + experiment + "/verdicts.svg"))
      text +=
          picture(folder, experiment + "/verdicts", part.what + ": the paper's values and ours");
  if (!comparisons.empty()) {
    const Table table = comparison_table(comparisons);
    text += html_table(table, SIZE_MAX, "") + paragraph(comparison_tally(comparisons));
    const std::vector<std::string> notes = comparison_notes(comparisons);
    if (!notes.empty()) text += "<ol class=\"note\">\n";
    for (const std::string& note : notes) text += fmt::format("<li>{}</li>\n", escaped(note));
    if (!notes.empty()) text += "</ol>\n";
  }
  if (!part.missing.empty()) text += paragraph("Not covered: " + part.missing);
  return text + "</section>\n";
}

} // namespace

std::string Paper::folder_of(const std::string& results) const {
  return name.empty() ? results : results + "/" + name;
}

std::string Paper::command_of(const std::string& experiment) const {
  return name.empty()
             ? (std::filesystem::path(file).parent_path() / (experiment + ".toml")).string()
             : name + "/" + experiment;
}

Paper read_paper(const std::string& file, const std::string& name) {
  ConfigTable table = read_config(file);
  table.allow_only({"title", "source", "reading", "parts"});
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  Paper paper{.name = name,
              .file = file,
              .title = table.at("title").string(),
              .source = table.at("source").string(),
              .reading = texts_at(table, "reading"),
              .parts = {}};
  for (const ConfigTable& part : table.tables("parts"))
    paper.parts.push_back(read_part(part, folder));
  if (paper.parts.empty()) throw table.error("no part of the paper: needs [[parts]]");
  return paper;
}

std::string paper_page(const Paper& paper, const std::string& results) {
  std::string page = page_head(paper.title, paper.source) + "<main>\n" + coverage(paper, results) +
                     reading_section(paper) + contents(paper);
  for (std::size_t i = 0; i < paper.parts.size(); ++i) page += part_section(paper, i, results);
  return page + "</main>\n" + std::string(page_end);
}

} // namespace tutti
