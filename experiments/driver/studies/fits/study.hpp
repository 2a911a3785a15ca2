// What an experiment asks of a transport's constants ([[fits]]): that they be fitted to rows that
// machines have measured, and how far predictions are off, of rows that were fitted, of sizes and
// of machines that were left out.
// Format: docs/formats/fits.md.
#pragma once

#include "experiments/driver/studies/fits/least_squares.hpp"
#include "experiments/driver/studies/measurements/measured_row.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/study.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

class ConfigTable;
struct Experiment;
struct StudyOption;

/// A measured row, and why it isn't fitted; empty where it is.
struct FitStudyRow {
  MeasuredRow measured;
  std::string left_aside;
};

/// A machine that has measured.
struct FitSystem {
  std::size_t topology = 0; ///< into the networks
  std::string group;
  AlgorithmRow algorithm;
  SynthesisOptions options;
  std::vector<FitStudyRow> rows; ///< by collective, size
};

struct FitStudy {
  static constexpr std::string_view kind = "fits";

  std::string label; ///< unique in its experiment
  Transport start;
  std::string name = "fitted", note;
  std::vector<std::string> free; ///< FitRequest::free
  std::vector<Bytes> from{Bytes{1 << 20}};
  std::vector<FitSystem> systems;
  std::vector<Expectation> expectations;

  /// Keys that `tutti fit` takes.
  [[nodiscard]] static std::vector<StudyOption> options_of_command();

  /// How many there are, each with a row or more. A point of a sweep is one.
  [[nodiscard]] std::size_t case_count() const { return 1; }
  /// What it writes, without rows.
  [[nodiscard]] static std::vector<RecordFile> files();
  /// How --columns may call what its tables have, or could have.
  [[nodiscard]] std::vector<std::string> table_columns() const;

  /// From its table, after `others` of its kind. Pre: the experiment has its topologies.
  /// Errors: InputError with the place of what is wrong.
  [[nodiscard]] static FitStudy read(ConfigTable table, const Experiment& experiment,
                                     const std::string& source_name,
                                     std::span<const FitStudy> others);
};

/// Errors: InputError.
void require_sound(const FitStudy& study, Networks networks);
[[nodiscard]] StudyResult run_study(const FitStudy& study, const StudyRun& how);

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

/// A row beside its predictions.
struct FittedRow {
  const FitSystem* system = nullptr;
  const FitStudyRow* row = nullptr;
  std::string part; ///< the one with the longest steps among those that it crosses
  Time predicted;
  Interval interval; ///< that 90 % of rows left out lie in
  FitErrors errors;
  /// Left out, by the interval that the other rows give; none: not fitted, or no other is.
  std::optional<bool> is_covered = {};
  /// Its machine left out, by the interval that the other machines give; none: not fitted, or of a
  /// part that no other machine has.
  std::optional<bool> is_covered_elsewhere = {};
};

struct FitEvaluation {
  FitResult fit;
  std::vector<FittedRow> rows;
  /// Spread of each part, from sizes left out. That of "" is for parts with few rows: from machines
  /// left out, or from sizes where there is only one machine.
  std::map<std::string, Spread> spreads;
};

/// Errors: InputError; Stopped.
[[nodiscard]] FitEvaluation evaluate_fit(const FitStudy& study, Networks networks,
                                         const SynthesisOptions& options, unsigned threads);

/// The file of the transport that was made.
[[nodiscard]] std::string transport_text(const FitStudy& study, const FitEvaluation& made);

[[nodiscard]] StudyResult result_of(const FitStudy& study, Networks networks, FitEvaluation made);

} // namespace tutti
