// Which choice is best in each cell, by how much, and where several are equally good.
#pragma once

#include "experiments/driver/sweep/analysis/analysed_points.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::sweep {

/// A combination of values of `of` in one cell, represented by its best point.
struct Contender {
  std::uint32_t row = 0;    ///< the best point with this choice; others are chosen for it
  std::uint32_t choice = 0; ///< group of BestChoices::choices
};

/// What one cell comes to.
struct BestCell {
  std::uint32_t first_row = 0; ///< of its points: gives the cell's values
  /// From the best to the worst, of equals in the order of choices; empty: no point has a value.
  std::vector<Contender> contenders;
  std::size_t ties = 0; ///< how many of the first are equally good: 1 where one is best alone
};

struct BestChoices {
  Grouping choices;            ///< by `of`
  std::vector<BestCell> cells; ///< ordered by the values of the cells' columns
};

/// Values that differ by at most 1e-12 of themselves are equal: they come from the same times by
/// other roundings.
[[nodiscard]] bool equally_good(double a, double b);

/// How many times worse `value` is than `best`, at least 1; NaN unless both are positive.
[[nodiscard]] double loss_ratio(const ObjectiveValues& objective, double best, double value);

/// `cells`: columns whose values make a cell. Cost: O(rows log rows).
[[nodiscard]] BestChoices best_choices(AnalysedPoints& points, const ObjectiveValues& objective,
                                       std::span<const std::string> of,
                                       std::span<const std::string> cells);

} // namespace tutti::sweep
