// Which choice is best where: a table of all cells, and a map for each combination of `by`.
#include "experiments/driver/figures/choice_map.hpp"
#include "experiments/driver/figures/palette.hpp"
#include "experiments/driver/sweep/analysis/best_choice.hpp"
#include "experiments/driver/sweep/analysis/cells.hpp"
#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "experiments/driver/sweep/report/report_row.hpp"
#include "sim/ids.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

namespace tutti::sweep {

namespace {

struct BestColumns {
  std::vector<const Levels*> by, of, cell; ///< cell: by, y, x
  const Levels* x = nullptr;
  const Levels* y = nullptr; ///< null: none
};

BestColumns best_columns(const BestAnalysis& analysis, AnalysedPoints& points) {
  BestColumns columns;
  columns.by = columns.cell = points.levels_of(analysis.head.by);
  columns.of = points.levels_of(analysis.of);
  if (!analysis.y.empty()) columns.cell.push_back(columns.y = &points.levels(analysis.y));
  columns.cell.push_back(columns.x = &points.levels(analysis.x));
  return columns;
}

// "ring = tacos" where both are equally good.
std::string tie_text(const BestCell& cell, const BestColumns& columns) {
  std::string text;
  for (std::size_t i = 0; cell.ties > 1 && i < cell.ties; ++i)
    text += (i == 0 ? "" : " = ") + values_text(columns.of, cell.contenders[i].row);
  return text;
}

double second_ratio(const BestCell& cell, const ObjectiveValues& objective) {
  if (cell.contenders.size() < 2) return std::nan("");
  return loss_ratio(objective, objective.values[cell.contenders[0].row],
                    objective.values[cell.contenders[1].row]);
}

ReportRow cell_row(const BestCell& cell, const BestColumns& columns,
                   const ObjectiveValues& objective) {
  const auto contender = [&cell](std::size_t place) {
    return place < cell.contenders.size() ? cell.contenders[place].row : no_index;
  };
  const std::uint32_t best = contender(0);
  ReportRow row;
  for (const Levels* each : columns.cell) row.add_level(*each, cell.first_row, "", 0, true);
  for (const Levels* each : columns.of) row.add_level(*each, best, "best ", 0, true);
  if (best == no_index)
    row.add(column_title(objective.name, objective.unit), {objective.name, Align::right}, "",
            "no result");
  else
    row.add_objective(objective, best);
  for (const Levels* each : columns.of) row.add_level(*each, contender(1), "second ", 2, true);
  const double ratio = second_ratio(cell, objective);
  row.add("second_over_best", {"second/best", Align::right, 1}, exact_text(ratio),
          std::isnan(ratio) ? "-" : fmt::format("{:.4g}", ratio));
  const std::string ties = tie_text(cell, columns);
  row.add("ties", {"ties", Align::left, 3, true}, ties, ties);
  return row;
}

// The map of the cells of one combination of `by`.
// Only the columns and rows that occur in this combination, so that a map of a small part of the
// sweep isn't mostly empty.
ChoiceMap choice_map(const std::vector<const BestCell*>& cells, const BestColumns& columns,
                     const ObjectiveValues& objective) {
  ChoiceMap map;
  map.x_label = columns.x->name;
  map.y_label = columns.y == nullptr ? "" : columns.y->name;
  std::map<std::uint32_t, std::size_t> column, row, choice; // from levels and groups to places
  for (const BestCell* cell : cells) {
    column[columns.x->of_row[cell->first_row]] = 0;
    if (columns.y != nullptr) row[columns.y->of_row[cell->first_row]] = 0;
    if (!cell->contenders.empty()) choice[cell->contenders.front().choice] = 0;
  }
  for (auto& [level, place] : column) {
    place = map.columns.size();
    map.columns.push_back(display_text(columns.x->values[level]));
  }
  for (auto& [level, place] : row) {
    place = map.rows.size();
    map.rows.push_back(display_text(columns.y->values[level]));
  }
  if (columns.y == nullptr) map.rows.emplace_back();
  for (const BestCell* cell : cells) {
    if (cell->contenders.empty()) continue;
    const Contender& best = cell->contenders.front();
    map.cells.push_back({column.at(columns.x->of_row[cell->first_row]),
                         columns.y == nullptr ? 0 : row.at(columns.y->of_row[cell->first_row]),
                         best.choice, values_text(columns.of, best.row),
                         cell->ties > 1 ? "tie" : times_text(second_ratio(*cell, objective))});
  }
  return map;
}

// Choices that are best somewhere, with colours that are the same on all maps.
void add_choices(ChoiceMap& map, const BestChoices& best, const BestColumns& columns) {
  // Colours are numbered over all maps, the legend over this one.
  std::map<std::size_t, std::size_t> place; // of a choice in the legend
  std::map<std::size_t, std::size_t> colour;
  for (const BestCell& cell : best.cells)
    if (!cell.contenders.empty()) colour[cell.contenders.front().choice] = 0;
  std::size_t next = 0;
  for (auto& [choice, number] : colour) number = next++;
  for (const MapCell& cell : map.cells) place[cell.choice] = 0;
  for (auto& [choice, at] : place) {
    at = map.choices.size();
    map.choices.push_back({values_words(columns.of, best.choices.first_row[choice], ", "),
                           choice_colour(colour.at(choice))});
  }
  for (MapCell& cell : map.cells) cell.choice = place.at(cell.choice);
}

void add_map(AnalysisReport& report, const std::vector<const BestCell*>& cells,
             const BestChoices& best, const BestColumns& columns, const ObjectiveValues& objective,
             const Sweep& sweep) {
  const std::string part = values_text(columns.by, cells.front()->first_row);
  ChoiceMap map = choice_map(cells, columns, objective);
  if (map.cells.empty()) {
    if (!part.empty()) report.notes.push_back("No result: " + part + ".");
    return;
  }
  const std::string words = values_words(columns.by, cells.front()->first_row, ", ");
  map.title = report.title_of(words, columns.by, cells.front()->first_row);
  map.note =
      case_note(sweep, fmt::format("{} {}; numbers: how many times worse the second-best choice is",
                                   objective.aim(), objective.name));
  add_choices(map, best, columns);
  report.figures.push_back({part, map.title, choice_map_figure(map)});
}

// Which is best where, and by how much. Cases in which several are equally good count as such.
std::string conclusion_of(const BestChoices& best, const BestColumns& columns,
                          const ObjectiveValues& objective, const std::string& of) {
  std::vector<std::string> winners;
  std::vector<double> ratios;
  const BestCell* clearest = nullptr;
  double largest = 0;
  for (const BestCell& cell : best.cells) {
    if (cell.contenders.empty()) continue;
    winners.push_back(cell.ties > 1 ? "several alike"
                                    : values_words(columns.of, cell.contenders.front().row));
    const double ratio = second_ratio(cell, objective);
    if (std::isnan(ratio)) continue;
    ratios.push_back(ratio);
    if (ratio <= largest) continue;
    largest = ratio;
    clearest = &cell;
  }
  if (winners.empty()) return "";
  std::string text = fmt::format("The {} with the {} {}: {}.", of, objective.aim(), objective.name,
                                 counts_text(winners));
  if (clearest == nullptr) return text;
  std::ranges::sort(ratios);
  return text + fmt::format(" The second best is {} worse in the median, at most {} ({}, where it "
                            "is {} after {}).",
                            times_text(ratios[(ratios.size() - 1) / 2]), times_text(largest),
                            values_words(columns.cell, clearest->first_row, ", "),
                            values_words(columns.of, clearest->contenders[1].row),
                            values_words(columns.of, clearest->contenders[0].row));
}

} // namespace

AnalysisReport best_report(const BestAnalysis& analysis, AnalysedPoints& points) {
  AnalysisReport report = begun_report("best", analysis.head, points);
  const ObjectiveValues& objective = points.objective(analysis.objective);
  report.explanation = fmt::format(
      "For each {} the {} with the {} {}. Other parameters are chosen for the best. "
      "\"second/best\": how many times worse the second-best choice is; ties are equal to 1e-12.",
      analysis.y.empty() ? analysis.x : analysis.y + " and " + analysis.x,
      joined(analysis.of, ", "), objective.aim(), objective.name);
  const BestColumns columns = best_columns(analysis, points);
  std::vector<std::string> cell_names;
  for (const Levels* each : columns.cell) cell_names.push_back(each->name);
  const BestChoices best = best_choices(points, objective, analysis.of, cell_names);
  cell_row({.first_row = no_index, .contenders = {}}, columns, objective).begin(report);
  const std::string conclusion =
      conclusion_of(best, columns, objective, joined(analysis.of, " and "));
  if (!conclusion.empty()) report.conclusions.push_back(conclusion);
  const Grouping parts = points.grouped_by(analysis.head.by);
  std::vector<std::vector<const BestCell*>> cells(parts.size());
  for (const BestCell& cell : best.cells) {
    cell_row(cell, columns, objective).append_to(report);
    cells[parts.of_row[cell.first_row]].push_back(&cell);
  }
  for (const auto& each : cells) add_map(report, each, best, columns, objective, points.sweep());
  limit_figures(report);
  return report;
}

} // namespace tutti::sweep
