// How good predictions of executions were, and how much of the device executions used.
#pragma once

#include "experiments/driver/studies/executions/evaluation.hpp"

#include <optional>

namespace tutti {

/// exp(mean |log(measured / predicted)|) - 1 over the runs of these sizes and above that have both
/// and aren't fitted; nothing where none has.
[[nodiscard]] std::optional<double> prediction_error(const ExecutionEvaluation& evaluation,
                                                     Bytes from = Bytes{1});

/// A run's bytes per second over the device's copy rate.
struct RateShare {
  /// Over all connections together. Above 1 where ranks read one source from a cache.
  double sent = 0;
  /// Bytes of memory that the run reads and writes at least (runtime::PlanTraffic::memory), over
  /// those of copies in the same time, which read and write each byte.
  double memory = 0;
};
/// Nothing where the run has no time, or the copy rate wasn't measured.
[[nodiscard]] std::optional<RateShare> rate_share(const ExecutionEvaluation& evaluation,
                                                  const ExecutionRun& run);

/// rate_share() of the run that sends most per second; nothing where no run has one.
[[nodiscard]] std::optional<RateShare> best_rate_share(const ExecutionEvaluation& evaluation);

} // namespace tutti
