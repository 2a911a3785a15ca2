// How wide intervals must be to hold 90 % of what is measured, from rows that a fit hasn't seen.
#pragma once

#include <span>
#include <vector>

namespace tutti {

/// A row that was left out.
struct LeftOut {
  double off = 0;   ///< |ln(predicted / measured)|
  double times = 0; ///< how much of its time is latencies and launches, 0 .. 1
};

/// A row of which a part t is times may be off by rates * (1 - t) + times * t, as logarithms.
struct Spread {
  double rates = 0, times = 0;
  [[nodiscard]] double half_width(double times_part) const {
    return rates * (1 - times_part) + times * times_part;
  }
};

/// Rates wide enough for 90 % of the rows whose time is more than three quarters bandwidth, as if
/// nothing else were uncertain; then times wide enough for 90 % of the others. 90 % of n rows are
/// ceil(0.9 (n + 1)), or all. What has no rows is taken to be as wide as the other.
/// Pre: one row or more. Cost: O(rows).
[[nodiscard]] Spread spread_of(std::span<const LeftOut> rows);

/// [row]: whether it lies in the interval that all others give; false for a single row.
[[nodiscard]] std::vector<bool> covered_by_others(std::span<const LeftOut> rows);

} // namespace tutti
