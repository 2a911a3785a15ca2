// What an experiment expects of its executions, and what runs for real make of it.
#pragma once

#include "experiments/driver/studies/executions/evaluation.hpp"
#include "experiments/driver/studies/expectation.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What an experiment expects of executions ([[executions.expect]]): how far predictions are off at
/// most, or what share of the device's copy rate all connections together reach at least.
struct ExecutionExpectation {
  enum class Of : std::uint8_t { error, copy_rate };
  std::string label;
  std::vector<std::string> algorithms; ///< names; empty: all
  Bytes from{1};                       ///< sizes below don't count
  Of of = Of::error;
  double limit = 0; ///< geometric mean of the error, at most: 0.25 for 25 %; or the share, at least
  std::string explanation;
  std::optional<Bytes> to = {}; ///< sizes above don't count either
  /// Of the error: judged only where every run's ratios differ by no more between passes (0.1: the
  /// highest is 10 % above the lowest). What a busy machine decides is no verdict.
  std::optional<double> repeats_within = {};
};

/// Of which runs something is asked.
struct ExecutionFilter {
  Bytes from{1};
  std::optional<Bytes> to = {};
  std::span<const std::string> algorithms = {}; ///< empty: all
};

/// exp(mean |log(measured / predicted)|) - 1 over these runs, where they have both; nothing where
/// none has.
[[nodiscard]] std::optional<double> prediction_error(const ExecutionEvaluation& evaluation,
                                                     const ExecutionFilter& filter = {});

/// What a run's bytes per second are of the device's copy rate.
struct RateShare {
  /// Over all connections together. Above 1 where ranks read one source from a cache.
  double sent = 0;
  /// Of its memory, as far as the run needs it at least (runtime::PlanTraffic::memory), over what a
  /// copy does, which reads and writes each byte.
  double memory = 0;
};
/// Nothing where the run has no time, or the copy rate wasn't measured.
[[nodiscard]] std::optional<RateShare> rate_share(const ExecutionEvaluation& evaluation,
                                                  const ExecutionRun& run);

/// Of the run that sends most a second; as above.
[[nodiscard]] std::optional<RateShare> best_rate_share(const ExecutionEvaluation& evaluation,
                                                       const ExecutionFilter& filter = {});

[[nodiscard]] std::vector<Comparison>
comparisons_of(std::span<const ExecutionExpectation> expectations,
               const ExecutionEvaluation& evaluation);

} // namespace tutti
