// Who reads only the beginning of the page knows what came out; who looks on has every point.
#include "experiments/driver/sweep/report/sweep_page.hpp"

#include "experiments/driver/records/csv_records.hpp"
#include "experiments/driver/records/printable.hpp"
#include "experiments/driver/sweep/analysis/cells.hpp"
#include "experiments/driver/sweep/analysis/levels.hpp"
#include "experiments/driver/sweep/report/points_csv.hpp"
#include "experiments/driver/sweep/space/experiment_template.hpp"
#include "experiments/driver/sweep/space/point_results.hpp"
#include "sim/error.hpp"
#include "sim/expressions/placeholders.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tutti::sweep {

namespace {

constexpr std::size_t most_points = 20'000;

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

/// What each analysis says, in the words that it found for its own numbers.
ExploredTable conclusions(const Sweep& sweep, std::span<const PageSection> sections,
                          const PointTable& table) {
  std::vector<std::string> done;
  for (const std::vector<std::string>& row : status_table(table).rows)
    done.push_back(fmt::format("{} {}", row[1], row[0]));
  ExploredTable all{.title = "conclusions", .notes = {}, .records = {}};
  all.notes.push_back(fmt::format("Sweep {}: {} points, seed {}. Points: {}.", sweep.name,
                                  table.rows, sweep.seed,
                                  done.empty() ? "none" : joined(done, ", ")));
  for (const PageSection& section : sections) {
    for (const std::string& conclusion : section.report.conclusions)
      all.notes.push_back(fmt::format("{}: {}", section.report.title, conclusion));
    if (!section.figures.empty()) // the others stand with their analysis
      all.pictures.push_back({section.figures.front().title, section.figures.front().svg});
  }
  return all;
}

ExploredTable of_analysis(const PageSection& section) {
  const AnalysisReport& report = section.report;
  ExploredTable table{
      .title = report.title, .notes = report.conclusions, .records = records_of_csv(report.csv)};
  table.notes.push_back(report.explanation);
  table.notes.insert(table.notes.end(), report.notes.begin(), report.notes.end());
  if (report.table.rows.empty()) table.notes.emplace_back("No point has a result to show.");
  for (const PageFigure& figure : section.figures)
    table.pictures.push_back({figure.title, figure.svg});
  return table;
}

/// The network of each distinct text among the points. A point whose network can't be made has
/// none.
class PointNetworks {
public:
  PointNetworks(const Sweep& sweep, const PointTable& table, Exploration& page,
                std::deque<Topology>& networks)
      : sweep_(sweep), table_(table), page_(page), networks_(networks) {}

  /// Its index in the page's runs.
  std::optional<std::size_t> of(std::size_t row) {
    if (!sweep_.experiment) return std::nullopt;
    std::string text;
    try {
      text = filled_in(sweep_.experiment->topology_text(), [&](const std::string& name) {
        const TableColumn& column = table_.column(name);
        if (!column.has(row)) throw InputError(name + " has no value");
        return column.value(row);
      });
    } catch (const InputError&) {
      return std::nullopt;
    }
    const auto [found, is_new] = known_.try_emplace(text);
    if (is_new && known_.size() <= most_tried) found->second = added(text);
    return found->second;
  }

private:
  static constexpr std::size_t most_tried = 64, most_networks = 16, most_parts = 4'000;

  std::optional<std::size_t> added(const std::string& text) {
    if (page_.runs.size() == most_networks) return std::nullopt;
    try {
      Topology network = sweep_.experiment->topology(text);
      if (network.node_count() + network.link_count() > most_parts) return std::nullopt;
      const Topology& kept = networks_.emplace_back(std::move(network));
      ExploredRun run{.label = text,
                      .facts = {{"network", kept.name()},
                                {"NPUs", fmt::to_string(kept.npu_count())},
                                {"links", fmt::to_string(kept.link_count())}},
                      .topology = &kept,
                      .collective = {},
                      .schedule = Schedule(kept.link_count()),
                      .report = {}};
      run.report.links.resize(kept.link_count());
      page_.runs.push_back(std::move(run));
      return page_.runs.size() - 1;
    } catch (const InputError&) { // a point that was refused
      return std::nullopt;
    }
  }

  const Sweep& sweep_;
  const PointTable& table_;
  Exploration& page_;
  std::deque<Topology>& networks_;
  std::map<std::string, std::optional<std::size_t>> known_;
};

/// The first objective over the second, or over the first parameter that is a number; coloured by
/// the text with the most values that colours tell apart.
std::optional<ExploredChart> chart_of(const Sweep& sweep, const Records& records) {
  const auto column_of = [&](const std::string& name) -> std::string {
    for (const RecordColumn& column : records.columns)
      if (column.name == name || column.name.starts_with(name + " [")) return column.name;
    return "";
  };
  std::vector<std::string> objectives;
  for (const Objective& objective : sweep.objectives)
    if (std::string column = column_of(objective.name); !column.empty())
      objectives.push_back(std::move(column));
  if (objectives.empty()) return std::nullopt;
  ExploredChart chart{.x = {}, .y = {objectives.front()}, .by = {}};
  if (objectives.size() > 1) chart.x = objectives[1];
  constexpr std::size_t most_colours = 12;
  std::size_t colours = 1;
  for (const std::string& name : parameter_names(sweep)) {
    const std::string column = column_of(name);
    const auto found = std::ranges::find(records.columns, column, &RecordColumn::name);
    if (found == records.columns.end()) continue;
    const bool is_text = found->quantity == Quantity::text;
    if (!is_text && chart.x.empty()) chart.x = column;
    if (!is_text) continue;
    std::set<std::string> values;
    for (const std::vector<Cell>& row : records.rows)
      if (const Cell& cell = row[static_cast<std::size_t>(found - records.columns.begin())];
          cell.is_known())
        values.insert(cell.text());
    if (values.size() <= most_colours && values.size() > colours) {
      colours = values.size();
      chart.by = {column};
    }
  }
  if (chart.x.empty()) return std::nullopt;
  return chart;
}

ExploredTable points(const Sweep& sweep, const PointTable& table, Exploration& page,
                     std::deque<Topology>& networks) {
  ExploredTable all{.title = "points", .notes = {}, .records = {}};
  std::vector<std::vector<std::string>> rows =
      point_rows(with_objectives(sweep, table), most_points);
  all.records = records_of_csv(rows);
  for (const Objective& objective : sweep.objectives)
    for (RecordColumn& column : all.records.columns)
      if (column.name == objective.name || column.name.starts_with(objective.name + " [")) {
        column.better = objective.maximise ? Better::higher : Better::lower;
        column.meaning = objective.expression;
      }
  all.chart = chart_of(sweep, all.records);
  if (table.rows > most_points)
    all.notes.push_back(
        fmt::format("The first {} of {} points; points.csv has all.", most_points, table.rows));
  PointNetworks of(sweep, table, page, networks);
  for (std::size_t row = 0; row < all.records.rows.size(); ++row) all.runs.push_back(of.of(row));
  return all;
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

Exploration sweep_exploration(const Sweep& sweep, const PointTable& table,
                              std::span<const PageSection> sections,
                              std::deque<Topology>& networks) {
  Exploration page{.title = sweep.title.empty() ? sweep.name : sweep.title,
                   .command = "tutti sweep " + sweep.name,
                   .runs = {}};
  page.tables.push_back(conclusions(sweep, sections, table));
  ExploredTable of_points = points(sweep, table, page, networks);
  page.tables.push_back(std::move(of_points));
  for (const PageSection& section : sections) page.tables.push_back(of_analysis(section));
  AnalysedPoints analysed(sweep, table);
  ExploredTable varied{.title = "what was varied",
                       .notes = {},
                       .records = records_of_table(parameter_table(analysed))};
  for (const Constraint& each : sweep.constraints)
    varied.notes.push_back("Left out are points for which this doesn't hold: " + each.expression);
  page.tables.push_back(std::move(varied));
  if (!sweep.objectives.empty())
    page.tables.push_back(
        {.title = "objectives", .notes = {}, .records = records_of_table(objective_table(sweep))});
  if (Table problems = problem_table(table); !problems.rows.empty())
    page.tables.push_back(
        {.title = "what has no result", .notes = {}, .records = records_of_table(problems)});
  page.tables.push_back({.title = "the sweep", .notes = {sweep.toml}, .records = {}});
  return page;
}

} // namespace tutti::sweep
