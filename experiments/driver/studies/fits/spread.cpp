// Residuals of rows that are fitted to are too small, and a distribution of them is anybody's
// guess. So widths are order statistics of residuals of rows that were left out (Vovk et al. 2005,
// conformal prediction; Barber et al. 2021, jackknife+), scaled by what a row's time is made of:
// large messages depend on rates, which are known well, small ones on latencies, which aren't.
#include "experiments/driver/studies/fits/spread.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// What 90 % of these are at most, and of others like them.
double order_statistic(std::vector<double> values) {
  constexpr double coverage = 0.9;
  const auto count = static_cast<double>(values.size());
  const auto rank = static_cast<std::size_t>(std::min(count, std::ceil(coverage * (count + 1))));
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(rank) - 1);
  return values[rank - 1];
}

} // namespace

Spread spread_of(std::span<const LeftOut> rows) {
  assert(!rows.empty());
  constexpr double mostly = 0.25;
  std::vector<double> of_rates, of_times;
  for (const LeftOut& row : rows)
    if (row.times < mostly) of_rates.push_back(row.off);
  Spread spread;
  const bool knows_rates = !of_rates.empty();
  if (knows_rates) spread.rates = order_statistic(std::move(of_rates));
  for (const LeftOut& row : rows)
    if (row.times >= mostly)
      of_times.push_back((row.off - spread.rates * (1 - row.times)) / row.times);
  if (!of_times.empty()) spread.times = order_statistic(std::move(of_times));
  if (!knows_rates) spread.rates = spread.times;
  spread.times = std::max(spread.times, spread.rates); // known no better
  return spread;
}

std::vector<bool> covered_by_others(std::span<const LeftOut> rows) {
  std::vector<bool> covered(rows.size(), false);
  if (rows.size() < 2) return covered;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<LeftOut> others(rows.begin(), rows.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    covered[i] = rows[i].off <= spread_of(others).half_width(rows[i].times);
  }
  return covered;
}

} // namespace tutti
