// An objective over one parameter, by another: for each combination of `by`, series and x the best
// value over all other parameters, or one for each repetition.
#pragma once

#include "experiments/driver/sweep/analysis/analysed_points.hpp"
#include "experiments/driver/sweep/analysis/replicates.hpp"
#include "sim/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace tutti::sweep {

/// One point of one curve.
struct CurveCell {
  std::uint32_t first_row = 0;  ///< of its points: gives by, series and x
  std::uint32_t row = no_index; ///< the best point, without repetitions
  double value = std::numeric_limits<double>::quiet_NaN(); ///< the best, mean or quantile
  std::optional<ReplicateSummary> summary;                 ///< of repetitions that have a result
  std::size_t without_result = 0;                          ///< repetitions (or 1) that have none
};

/// Ordered by the values of `by`, then series, then x. Each repetition counts with the parameters
/// that are best for it. `relative_to`: values are over those of this series at the same `by`, x
/// and repetition; where that one has none, there is no result.
/// Errors: InputError where no point has `relative_to` as its series, naming the series.
[[nodiscard]] std::vector<CurveCell> curve_cells(const CurvesAnalysis& analysis,
                                                 AnalysedPoints& points);

} // namespace tutti::sweep
