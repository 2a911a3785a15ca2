// Ratios above and below 1 are errors alike, so that logarithms are averaged.
#include "experiments/driver/studies/executions/prediction.hpp"

#include <cmath>
#include <cstddef>

namespace tutti {

std::optional<double> prediction_error(const ExecutionEvaluation& evaluation, Bytes from) {
  double sum = 0;
  std::size_t count = 0;
  for (const ExecutionRun& run : evaluation.runs) {
    if (run.measured() <= 0 || run.ratio() <= 0 || run.fitted || run.size < from) continue;
    sum += std::abs(std::log(run.ratio()));
    ++count;
  }
  if (count == 0) return std::nullopt;
  return std::exp(sum / static_cast<double>(count)) - 1;
}

std::optional<RateShare> rate_share(const ExecutionEvaluation& evaluation,
                                    const ExecutionRun& run) {
  if (evaluation.copy_rate <= 0 || run.measured() <= 0) return std::nullopt;
  const double copied = run.measured() * evaluation.copy_rate; // bytes
  return RateShare{static_cast<double>(run.execution->bytes_moved) / copied,
                   static_cast<double>(run.execution->memory_bytes) / (2 * copied)};
}

std::optional<RateShare> best_rate_share(const ExecutionEvaluation& evaluation) {
  std::optional<RateShare> best;
  for (const ExecutionRun& run : evaluation.runs) {
    const auto share = rate_share(evaluation, run);
    if (share && (!best || share->sent > best->sent)) best = share;
  }
  return best;
}

} // namespace tutti
