// A selection table, as a tuner reads it: for each value of one parameter (a size, say) the best
// choice of others, neighbours with the same choice merged into ranges.
//
// As JSON:
//   study, label, title   texts
//   objective             {name, unit ("seconds"), better ("least" or "largest")}
//   over                  {name, unit}
//   of                    [names of what is chosen]
//   constants             {name: value}: parameters, derived values and facts that all points share
//   selections            one for each combination of `by`:
//     by                  {name: value}
//     ranges              ascending; each
//       from, to          numbers: for from <= value < to; `to` is the next simulated value that
//                         has another choice or none, null after the last; or, where `over` is a
//                         text, `value` instead
//       choice            {name: value}
//       points            what was simulated: [{at, objective, next_best: {choice, ratio} or null}]
//                         `ratio`: how many times worse it is; null unless both are positive
//     unanswered          values of `over` for which no choice has a result
// Numbers are in SI units. Among equals the choice of the range before is kept, else the first.
// Nothing is measured and no version is in it: the same points give the same bytes.
#pragma once

#include "experiments/driver/sweep/analysis/analysed_points.hpp"
#include "experiments/driver/sweep/analysis/best_choice.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::sweep {

/// What is selected at one value of `over`.
struct SelectedPoint {
  std::uint32_t row = 0;                 ///< of the chosen point
  std::optional<std::uint32_t> next_row; ///< of the next-best choice
  std::size_t ties = 1;                  ///< choices that are equally good
};

struct SelectionRange {
  std::vector<SelectedPoint> points;    ///< ascending by `over`, all with one choice
  std::optional<std::uint32_t> end_row; ///< a point at the value where it ends; none: open
};

struct Selection {
  std::uint32_t first_row = 0; ///< of its points: gives the values of `by`
  std::vector<SelectionRange> ranges;
  std::vector<std::uint32_t> unanswered; ///< a point at each value without a result
};

/// One for each combination of `by`, in the order of their values.
[[nodiscard]] std::vector<Selection> selections_of(const SelectionAnalysis& analysis,
                                                   AnalysedPoints& points);

/// As described above, indented, with a newline at the end.
[[nodiscard]] std::string selection_json(const SelectionAnalysis& analysis, AnalysedPoints& points,
                                         const std::vector<Selection>& selections);

} // namespace tutti::sweep
