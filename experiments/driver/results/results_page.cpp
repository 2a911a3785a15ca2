// One form for all kinds of study: the page knows tables, runs and timelines, and no study.
#include "experiments/driver/results/results_page.hpp"

#include "experiments/driver/records/csv_records.hpp"
#include "experiments/driver/results/result_files.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "sim/error.hpp"
#include "sim/files/csv.hpp"
#include "sim/files/files.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// What links were used for, without a run that could be played.
ExploredRun explored_use(const NetworkUse& use) {
  ExploredRun run{.label = use.heading.title,
                  .facts = {{"time", short_text(use.duration)}},
                  .topology = use.topology,
                  .collective = {},
                  .schedule = Schedule(use.topology->link_count()),
                  .report = {},
                  .dead = use.dead};
  if (!use.heading.note.empty()) run.facts.emplace_back("note", use.heading.note);
  run.report.links = use.links;
  run.report.completion = use.duration;
  return run;
}

/// The page's table for a file, which several studies may share.
ExploredTable& table_of(Exploration& page, const RecordFile& file) {
  const auto found = std::ranges::find(page.tables, file.stem, &ExploredTable::title);
  if (found != page.tables.end()) return *found;
  page.tables.push_back({.title = file.stem,
                         .notes = {},
                         .records = {file.records.columns, {}},
                         .chart = file.chart});
  return page.tables.back();
}

void add_runs(Exploration& page, const StudyResult& result, ExploredTable& of,
              std::size_t first_row) {
  std::vector<ExploredRun> runs;
  if (result.plays) runs = result.plays();
  if (runs.empty() && result.network_uses)
    for (const NetworkUse& use : result.network_uses()) runs.push_back(explored_use(use));
  for (ExploredRun& run : runs) {
    if (run.row) {
      of.runs.resize(of.records.rows.size());
      of.runs[first_row + *run.row] = page.runs.size();
    }
    page.runs.push_back(std::move(run));
  }
}

/// Adds the picture while a page's pictures have up to 3 MB; else a note.
void add_picture(ExploredTable& table, ExploredPicture picture, std::size_t& bytes) {
  constexpr std::size_t most_bytes = 3'000'000;
  bytes += picture.svg.size();
  if (bytes <= most_bytes)
    table.pictures.push_back(std::move(picture));
  else
    table.notes.push_back(fmt::format("The picture {} is left out: see its file.", picture.title));
}

/// The files of all kinds of study.
std::vector<RecordFile> known_files() {
  std::vector<RecordFile> known;
  for_each_kind([&known]<typename Kind>(std::type_identity<Kind>) {
    for (RecordFile& file : Kind::files()) known.push_back(std::move(file));
  });
  return known;
}

/// Whether it is the table of a sweep's analysis, beside a picture of the same name.
bool is_analysis(const std::string& name) {
  constexpr std::string_view kinds[] = {"pareto_", "best_", "sensitivity_", "curves_",
                                        "selection_"};
  return std::ranges::any_of(kinds, [&](std::string_view kind) { return name.starts_with(kind); });
}

} // namespace

ExploredTable verdict_table(std::span<const Comparison> comparisons) {
  using C = Comparison;
  using namespace column_words;
  const Fields<C> fields{
      {{"row", text, key}, &C::label},
      {{"paper", numeral}, &C::paper},
      {{"ours", numeral}, &C::ours},
      {{"difference", part}, &C::deviation},
      {{"verdict", text}, [](const C& c) { return to_text(c.agreement); }},
      {{"beside", text},
       [](const C& c) {
         return c.beside ? Cell(fmt::format("{}: {}", c.beside->algorithm, c.beside->text))
                         : Cell();
       }},
      {{"counted_apart", text, key}, [](const C& c) { return Cell::of_text(c.apart); }},
      {{"explanation", text, note}, [](const C& c) { return Cell::of_text(c.explanation); }}};
  return {.title = "verdicts",
          .notes = {comparison_tally(comparisons)},
          .records = records_of<C>(fields, comparisons)};
}

std::vector<ExploredTable> tables_in(const std::string& folder) {
  std::vector<std::string> tables, pictures;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".csv") && !name.ends_with("_data.csv")) tables.push_back(name);
    if (name.ends_with(".svg")) pictures.push_back(name);
  }
  const auto stem_of = [](const std::string& name) { return name.substr(0, name.size() - 4); };
  const std::vector<RecordFile> known = known_files();
  const auto place_of = [&](const std::string& name) { // among known files, which come first
    return std::ranges::find(known, stem_of(name), &RecordFile::stem) - known.begin();
  };
  const auto count = static_cast<std::ptrdiff_t>(known.size());
  std::erase_if(tables, [&](const std::string& name) { // what a picture shows
    return place_of(name) == count &&
           std::ranges::find(pictures, stem_of(name) + ".svg") != pictures.end() &&
           !is_analysis(name);
  });
  std::ranges::sort(tables, {},
                    [&](const std::string& name) { return std::pair(place_of(name), name); });
  std::ranges::sort(pictures);
  std::vector<ExploredTable> all;
  if (const auto comparisons = read_comparisons(folder); !comparisons.empty())
    all.push_back(verdict_table(comparisons));
  std::vector<RecordColumn> columns;
  for (const RecordFile& file : known)
    columns.insert(columns.end(), file.records.columns.begin(), file.records.columns.end());
  for (const std::string& name : tables) {
    const std::string file = folder + "/" + name;
    std::vector<std::vector<std::string>> rows;
    for (const CsvRow& row : csv_rows(read_file(file), file)) {
      rows.emplace_back();
      for (const CsvField& field : row.fields) rows.back().push_back(field.text);
    }
    all.push_back({.title = stem_of(name),
                   .notes = {},
                   .records = records_of_csv(rows, columns),
                   .chart = place_of(name) < count
                                ? known[static_cast<std::size_t>(place_of(name))].chart
                                : std::nullopt});
  }
  if (all.empty()) throw InputError(fmt::format("{}: there are no results in it", folder));
  std::size_t bytes = 0;
  for (const std::string& name : pictures)
    add_picture(all.front(), {stem_of(name), read_file(folder + "/" + name)}, bytes);
  return all;
}

Exploration exploration_of(const std::string& title, const std::string& command,
                           std::span<const StudyResult> results, bool with_pictures) {
  Exploration page{.title = title, .command = command, .runs = {}};
  std::size_t picture_bytes = 0;
  if (const std::vector<Comparison> comparisons = comparisons_of(results); !comparisons.empty())
    page.tables.push_back(verdict_table(comparisons));
  for (const StudyResult& result : results) {
    for (std::size_t f = 0; f < result.files.size(); ++f) {
      ExploredTable& table = table_of(page, result.files[f]);
      const std::size_t first_row = table.records.rows.size();
      append(table.records, result.files[f].records);
      if (!table.runs.empty()) table.runs.resize(table.records.rows.size());
      if (f > 0) continue;
      add_runs(page, result, table, first_row);
      if (with_pictures && result.figures)
        for (const NamedFigure& named : result.figures())
          add_picture(table, {named.stem, svg_of(named.figure)}, picture_bytes);
    }
    page.timelines.insert(page.timelines.end(), result.timelines.begin(), result.timelines.end());
  }
  std::erase_if(page.tables, [](const ExploredTable& table) { return table.records.rows.empty(); });
  return page;
}

} // namespace tutti
