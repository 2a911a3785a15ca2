// How much each parameter matters for an objective: what share of its variance it explains alone
// (eta squared: between groups over total, as in Cohen 1988, "Statistical Power Analysis", sec.
// 8.2), from where to where its values move the mean, and what it does with all others equal.
#pragma once

#include "experiments/driver/sweep/analysis/analysed_points.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti::sweep {

/// One value of a parameter, or a range of them.
struct ParameterLevel {
  std::string text; ///< "64 GB/s", or "1 us to 2 us"
  double mean = 0;  ///< of the objective: geometric with ratios
};

/// Ratios of worst to best, at least 1; or differences, at least 0.
struct EqualOthers {
  std::size_t groups = 0; ///< of points that differ in this parameter only, with two or more values
  double least = 0, median = 0, largest = 0;
};

struct ParameterSensitivity {
  std::string name;
  std::size_t levels = 0;      ///< values, or ranges where there are more than 8 numbers
  std::optional<double> share; ///< 0 to 1; none: each level has one point, or nothing varies
  ParameterLevel best, worst;
  double effect = 0; ///< ratio or difference of best and worst
  EqualOthers equal_others;
};

struct Sensitivity {
  bool ratios = true;     ///< the objective is positive: logarithms, ratios; else plain differences
  std::size_t points = 0; ///< with a value
  std::vector<ParameterSensitivity> parameters; ///< the largest share first
};

/// Sensitivity of the objective to each parameter, over those of `rows` that have a value.
/// Parameters that follow from another by a zip (a topology from its network) needn't be equal when
/// only that one differs.
/// Pre: rows ascend. Cost: O(parameters^2 * rows log rows).
[[nodiscard]] Sensitivity sensitivity_of(AnalysedPoints& points, const ObjectiveValues& objective,
                                         std::span<const std::string> parameters,
                                         std::span<const std::uint32_t> rows);

} // namespace tutti::sweep
