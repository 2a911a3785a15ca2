// Both intervals of the header, with 2.5 % on each side. That of the median needs no table: of n
// values the number below the median is binomial with chance 1/2.
#include "experiments/driver/sweep/analysis/replicates.hpp"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace tutti::sweep {

namespace {

constexpr double tail = 0.025; // on each side

double median_of_sorted(const std::vector<double>& values) {
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// Half the width of the mean's interval.
double half_width(const std::vector<double>& values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto n = static_cast<double>(values.size());
  const double t = boost::math::quantile(boost::math::students_t(n - 1), 1 - tail);
  return t * std::sqrt(squares / (n - 1) / n);
}

} // namespace

// P(fewer than r of n lie below the median) = sum over k < r of C(n, k) / 2^n: the largest r for
// which that is at most 2.5 %. By logarithms of the gamma function: C(n, k) overflows from n =
// 1030.
std::size_t median_rank(std::size_t count) {
  const auto n = static_cast<double>(count);
  double below = 0; // chance that fewer than `rank` values lie below the median
  for (std::size_t rank = 1; rank <= (count + 1) / 2; ++rank) {
    const auto k = static_cast<double>(rank - 1);
    below += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                      n * std::log(2.0));
    if (below > tail) return rank - 1;
  }
  return 0;
}

double quantile_of(std::vector<double> values, double share) {
  assert(!values.empty() && share > 0 && share <= 1);
  std::sort(values.begin(), values.end());
  const double below = std::ceil(share * static_cast<double>(values.size()) - 1e-9) - 1;
  return values[static_cast<std::size_t>(std::max(below, 0.0))];
}

ReplicateSummary summary_of(std::vector<double> values) {
  assert(!values.empty());
  // Also makes the sums independent of the order in which repetitions ended.
  std::sort(values.begin(), values.end());
  ReplicateSummary summary;
  summary.count = values.size();
  summary.least = values.front();
  summary.largest = values.back();
  summary.median = median_of_sorted(values);
  summary.mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  if (values.size() >= 2) {
    const double half = half_width(values, summary.mean);
    summary.mean_interval = Interval{summary.mean - half, summary.mean + half};
  }
  if (const std::size_t rank = median_rank(values.size()); rank > 0)
    summary.median_interval = Interval{values[rank - 1], values[values.size() - rank]};
  return summary;
}

} // namespace tutti::sweep
