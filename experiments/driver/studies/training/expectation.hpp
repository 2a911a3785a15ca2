// What papers say of training iterations, held against what we get ([[training.expect]]).
#pragma once

#include "experiments/driver/studies/expectation.hpp"
#include "sim/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// What befalls an iteration.
struct Condition {
  enum class Kind : std::uint8_t {
    undisturbed,
    disturbed,    ///< stragglers and events
    reroute,      ///< failed cables: what would go over them takes the shortest path that is left
    resynthesize, ///< failed cables: planned anew for what is left of the network
  };
  Kind kind = Kind::undisturbed;
  std::size_t failed_links = 0; ///< cables
  std::uint64_t seed = 1;       ///< of them
  bool operator==(const Condition&) const = default;
};
[[nodiscard]] std::string_view to_text(Condition::Kind kind);
/// "undisturbed", "reroute, 2 failed links, seed 1"
[[nodiscard]] std::string to_text(const Condition& condition);
[[nodiscard]] Condition::Kind parse_condition(std::string_view text); ///< Errors: InputError

[[nodiscard]] Purpose parse_purpose(std::string_view text); ///< Errors: InputError

/// A figure of a run.
struct TrainingMetric {
  enum class Kind : std::uint8_t {
    speed,            ///< iterations a second
    time,             ///< of an iteration, ps
    throughput,       ///< items a second
    utilisation,      ///< of peak flops
    exposed,          ///< communication per iteration, mean over NPUs, ps
    exposed_fraction, ///< of the iteration
    bubble_fraction,  ///< of the iteration, mean over NPUs
    waiting_fraction, ///< of the iteration, mean over NPUs
    compute_fraction, ///< of the iteration, mean over NPUs
    hidden_fraction,  ///< of communication
    memory,           ///< bytes of the NPU that needs most
  };
  Kind kind = Kind::speed;
  std::optional<Purpose> purpose; ///< of `exposed` and `exposed_fraction`; none: all
  bool operator==(const TrainingMetric&) const = default;
};
[[nodiscard]] std::string to_text(const TrainingMetric& metric); ///< "time", "exposed:tensor"
/// Errors: InputError with the known names.
[[nodiscard]] TrainingMetric parse_training_metric(std::string_view text);
/// For tables, with the metric's unit.
[[nodiscard]] std::string value_text(double value, const TrainingMetric& metric);

struct TrainingRun;
/// None where there is no report, or the figure isn't known.
[[nodiscard]] std::optional<double> value_of(const TrainingRun& run, const TrainingMetric& metric);

/// Which runs; empty lists: all.
struct TrainingSelection {
  std::vector<std::string> topologies, variants, plans;
  std::vector<Condition::Kind> conditions; ///< empty: undisturbed
  std::vector<std::size_t> failed_links;
  [[nodiscard]] bool picks(const TrainingRun& run) const;
};

struct TrainingExpectation {
  std::string label;
  TrainingMetric metric;
  TrainingSelection of;
  std::optional<TrainingSelection> over;
  Summary summary = Summary::single; ///< or a mean
  double paper = 0;                  ///< a ratio, or in the metric's unit
  double tolerance = 0;              ///< of the paper's value
  bool at_most = false;
  std::string explanation; ///< why ours may differ; empty: it may not
};

/// Indices of runs, or of two that are divided: those that agree in whatever `over` doesn't name
/// (of conditions: in failed links and seed, where both have some).
[[nodiscard]] std::vector<Quotient> quotients_of(const TrainingExpectation& expectation,
                                                 std::span<const TrainingRun> runs);

struct TrainingEvaluation;
[[nodiscard]] std::vector<Comparison>
comparisons_of(std::span<const TrainingExpectation> expectations,
               const TrainingEvaluation& evaluation);

} // namespace tutti
