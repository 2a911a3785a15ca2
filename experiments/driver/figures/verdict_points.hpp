// What several algorithms come to, over what a paper says: a row of points for each expectation.
#pragma once

#include "experiments/driver/figures/picture.hpp"

#include <string>
#include <vector>

namespace tutti {

struct VerdictPoint {
  std::string text;      ///< as verdicts show it
  double over_paper = 0; ///< NaN where there is none
};

struct VerdictRow {
  std::string label, paper;         ///< the expectation's, and the paper's value with its unit
  std::vector<VerdictPoint> points; ///< one per series
};

struct VerdictPoints {
  std::vector<std::string> series; ///< names of algorithms
  std::vector<VerdictRow> rows;
};

/// Pre: at least one row, one point per series in each; at least one point has a value.
[[nodiscard]] Figure verdict_points_figure(const VerdictPoints& chart);

} // namespace tutti
