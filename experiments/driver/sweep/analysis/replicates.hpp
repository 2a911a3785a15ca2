// What repetitions say: mean and median with intervals that hold the true one with 95 %
// confidence. The mean's by Student's t, which takes values to be normally distributed; the
// median's by order statistics, which takes nothing (Hahn and Meeker 1991, "Statistical Intervals",
// sec. 5.2).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tutti::sweep {

struct Interval {
  double low = 0, high = 0;
};

struct ReplicateSummary {
  std::size_t count = 0;
  double mean = 0, median = 0, least = 0, largest = 0;
  std::optional<Interval> mean_interval;   ///< from 2 values on
  std::optional<Interval> median_interval; ///< from 6 values on: fewer can't give 95 %
};

/// Whatever their order, the same bits. Pre: at least one value.
[[nodiscard]] ReplicateSummary summary_of(std::vector<double> values);

/// The least value that is not below a share of them: the ceil(share * count)-th smallest. Pre: at
/// least one value; the share is in (0, 1].
[[nodiscard]] double quantile_of(std::vector<double> values, double share);

/// The largest rank r, from 1, such that the median lies between the r-th smallest and the r-th
/// largest of `count` values with a probability of at least 95 %; 0: none. Cost: O(count).
[[nodiscard]] std::size_t median_rank(std::size_t count);

} // namespace tutti::sweep
