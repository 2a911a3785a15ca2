// Which choice is best in a cell is asked of its best points: parameters that are neither of the
// choice nor of the cell are set as is best for each choice, as a user who made it would set them.
#include "experiments/driver/sweep/analysis/best_choice.hpp"

#include "sim/ids.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace tutti::sweep {

namespace {

// Equally good within 1e-12 isn't transitive, so it is no order to sort by: contenders are sorted
// by their exact values, and only those as good as the very best are then put in the order of
// choices.
void sort_contenders(BestCell& cell, const ObjectiveValues& objective) {
  const auto value = [&](const Contender& each) { return objective.values[each.row]; };
  std::sort(cell.contenders.begin(), cell.contenders.end(),
            [&](const Contender& a, const Contender& b) {
              if (value(a) != value(b)) return objective.better(value(a), value(b));
              return a.choice < b.choice;
            });
  cell.ties = 0;
  while (cell.ties < cell.contenders.size() &&
         equally_good(value(cell.contenders.front()), value(cell.contenders[cell.ties])))
    ++cell.ties;
  std::sort(cell.contenders.begin(),
            cell.contenders.begin() + static_cast<std::ptrdiff_t>(cell.ties),
            [](const Contender& a, const Contender& b) { return a.choice < b.choice; });
}

} // namespace

bool equally_good(double a, double b) {
  return std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b));
}

double loss_ratio(const ObjectiveValues& objective, double best, double value) {
  if (!(best > 0 && value > 0)) return std::numeric_limits<double>::quiet_NaN();
  return std::max(1.0, objective.maximise ? best / value : value / best);
}

BestChoices best_choices(AnalysedPoints& points, const ObjectiveValues& objective,
                         std::span<const std::string> of, std::span<const std::string> cells) {
  BestChoices result;
  result.choices = points.grouped_by(of);
  const Grouping cell_of = points.grouped_by(cells);
  for (const std::uint32_t row : cell_of.first_row) result.cells.push_back({row, {}, 0});
  std::vector<std::string> both(cells.begin(), cells.end());
  both.insert(both.end(), of.begin(), of.end());
  for (const std::uint32_t row : best_rows(points.grouped_by(both), objective))
    if (row != no_index)
      result.cells[cell_of.of_row[row]].contenders.push_back({row, result.choices.of_row[row]});
  for (BestCell& cell : result.cells) sort_contenders(cell, objective);
  return result;
}

} // namespace tutti::sweep
