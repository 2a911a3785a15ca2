// Executions for people and programs: records, tables, JSON, figures, and how good predictions
// were.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/executions/study.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

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
/// The share of the run that sends most per second; nothing where no run has a time, or the copy
/// rate wasn't measured.
[[nodiscard]] std::optional<RateShare> best_rate_share(const ExecutionEvaluation& evaluation);

/// One row per algorithm and size.
[[nodiscard]] Records execution_records(const ExecutionEvaluation& evaluation);

/// Heading, profile in short, a row for each run, the error of the predictions.
[[nodiscard]] std::string execution_text(const ExecutionEvaluation& evaluation,
                                         const TableForm& form = {});

/// What nccl-tests prints: a comment, a row for each run that has data, the average bus bandwidth.
/// The side (out of place, in place) that wasn't run is N/A. Several algorithms follow one another.
[[nodiscard]] std::string nccl_tests_text(const ExecutionEvaluation& evaluation);

/// A row for each link: latency, bandwidth, error of the fit; then the joint rate.
[[nodiscard]] std::string profile_text(const Topology& network, const runtime::Profile& profile,
                                       const TableForm& form = {});

/// Details of each row of execution_records(): every repetition's seconds, every pass's prediction.
[[nodiscard]] nlohmann::ordered_json execution_details(const ExecutionEvaluation& evaluation);

/// Where and how all was run, a list of one.
[[nodiscard]] nlohmann::ordered_json about_executions(const ExecutionEvaluation& evaluation);

/// Each link's latency and bandwidth with its timings and the error of the fit; the joint rate.
[[nodiscard]] nlohmann::ordered_json profile_json(const Topology& network,
                                                  const runtime::Profile& profile);

/// Times over sizes; none where nothing was measured.
[[nodiscard]] std::vector<NamedFigure> execution_figures(const ExecutionEvaluation& evaluation);

} // namespace tutti
