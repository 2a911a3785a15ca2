// Times first, then how much more than without noise; what is spared first on a narrow terminal is
// what depends on who was late.
#include "experiments/driver/studies/noise/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace tutti {

std::vector<ShownColumn> shown_noise(bool causes) {
  std::vector<ShownColumn> shown{{"time_p50", "p50"},
                                 {"time_p90", "p90", 2},
                                 {"time_p99", "p99"},
                                 {"time_worst", "worst", 1},
                                 {"after_last_start_p50", "after last start", 4},
                                 {"noise_slowdown_p50", "x quiet", 3},
                                 {"noise_slowdown_p99", "p99 x quiet"}};
  if (causes) {
    shown.push_back({"critical_cause", "critical cause", 5});
    shown.push_back({"critical_cause_fraction", "in draws", 6});
  }
  return shown;
}

std::string noise_heading(std::span<const NoiseOutcome* const> outcomes) {
  const NoiseOutcome& first = *outcomes.front();
  std::size_t draws = 0; // skew none without jitter has a single one
  for (const NoiseOutcome* outcome : outcomes) draws = std::max(draws, outcome->draws.size());
  const bool one_skew = std::ranges::all_of(
      outcomes, [&](const NoiseOutcome* outcome) { return outcome->skew == first.skew; });
  return fmt::format("{}jitter {}, seed {}, {} draw{}",
                     one_skew ? fmt::format("skew {}, ", first.skew) : "", first.jitter, first.seed,
                     draws, draws == 1 ? "" : "s");
}

} // namespace tutti
