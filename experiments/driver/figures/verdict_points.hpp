// A paper's values and ours: a row of points for each expectation.
#pragma once

#include "experiments/driver/figures/picture.hpp"

#include <string>
#include <vector>

namespace tutti {

struct VerdictPoint {
  std::string text; ///< as verdicts show it
  double value = 0; ///< NaN where there is none
};

struct VerdictRow {
  std::string label;                ///< the expectation's
  std::vector<VerdictPoint> points; ///< one per series
};

struct VerdictPoints {
  std::vector<std::string> series; ///< "paper", "ours", and what is beside it
  std::vector<VerdictRow> rows;
  bool over_paper = false; ///< values are over the paper's, as rows have different units
};

/// Pre: at least one row, one point per series in each; at least one point has a value.
[[nodiscard]] Figure verdict_points_figure(const VerdictPoints& chart);

} // namespace tutti
