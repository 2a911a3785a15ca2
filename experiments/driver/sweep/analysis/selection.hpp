// A selection table, as a tuner reads it: for each value of one parameter (a size, say) the best
// choice of others, neighbours with the same choice merged into ranges; among equals the choice of
// the range before is kept, else the first.
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

} // namespace tutti::sweep
