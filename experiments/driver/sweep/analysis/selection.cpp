// One pass over the cells, which are ordered by `over`, with the choice before for each combination
// of `by`: a range goes on while its choice is among the best, so that ties don't break it up, and
// ends where another is better or where there is no result.
#include "experiments/driver/sweep/analysis/selection.hpp"

#include <algorithm>

namespace tutti::sweep {

namespace {

// The contender that stands for the cell: of equals the one with the choice before, else the first.
std::size_t selected_place(const BestCell& cell, std::optional<std::uint32_t> choice_before) {
  for (std::size_t i = 0; i < cell.ties; ++i)
    if (cell.contenders[i].choice == choice_before) return i;
  return 0;
}

SelectedPoint selected_point(const BestCell& cell, std::size_t place) {
  SelectedPoint point{cell.contenders[place].row, std::nullopt, cell.ties};
  const std::size_t next = place == 0 ? 1 : 0;
  if (next < cell.contenders.size()) point.next_row = cell.contenders[next].row;
  return point;
}

} // namespace

std::vector<Selection> selections_of(const SelectionAnalysis& analysis, AnalysedPoints& points) {
  std::vector<std::string> cell_columns = analysis.head.by;
  cell_columns.push_back(analysis.over);
  const BestChoices best =
      best_choices(points, points.objective(analysis.objective), analysis.of, cell_columns);
  const Grouping parts = points.grouped_by(analysis.head.by);
  const bool numeric = points.levels(analysis.over).numeric();
  std::vector<Selection> selections(parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p) selections[p].first_row = parts.first_row[p];
  std::vector<std::optional<std::uint32_t>> choice_before(parts.size());
  for (const BestCell& cell : best.cells) {
    const std::uint32_t part = parts.of_row[cell.first_row];
    Selection& selection = selections[part];
    std::optional<std::uint32_t> choice; // none: no result
    std::size_t place = 0;
    if (!cell.contenders.empty()) {
      place = selected_place(cell, choice_before[part]);
      choice = cell.contenders[place].choice;
    }
    const bool goes_on = numeric && choice && choice == choice_before[part];
    const bool ends = numeric && choice_before[part] && !goes_on;
    if (ends) selection.ranges.back().end_row = cell.first_row;
    if (!choice)
      selection.unanswered.push_back(cell.first_row);
    else if (!goes_on)
      selection.ranges.emplace_back();
    if (choice) selection.ranges.back().points.push_back(selected_point(cell, place));
    choice_before[part] = choice;
  }
  return selections;
}

} // namespace tutti::sweep
