// Measured rows beside what is predicted for them.
#pragma once

#include "experiments/driver/studies/measurements/measured_row.hpp"
#include "experiments/driver/studies/measurements/predictions.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace tutti {

/// Where a measured time lies in the interval that 90 % of measurements are expected in.
enum class Normality : std::uint8_t { unknown, expected, slower, faster, impossible };
/// "as expected", "slower", "faster", "impossible"; empty where nobody knows.
[[nodiscard]] std::string_view to_text(Normality normality);

struct ComparedRow {
  MeasuredRow measured;
  Forecast predicted;
  double factor = 1; ///< busbw over algbw
  /// predicted / measured; 0 without a prediction.
  [[nodiscard]] double ratio() const;
  /// Impossible: the network can't have measured it, by more than what rounds a printed time.
  [[nodiscard]] Normality normality() const;
};

/// How far predictions are off: twice as much and half as much count alike.
struct ComparisonError {
  std::size_t rows = 0; ///< with a prediction
  double mean = 0;      ///< exp(mean of |ln ratio|) - 1
  double most = 0;      ///< the same of the 90th percentile
};

struct MeasurementComparison {
  std::string topology, algorithm;
  std::string transport; ///< "ideal", "nccl"
  std::uint32_t npus = 0;
  std::vector<ComparedRow> rows;     ///< by collective, place, size
  std::vector<std::string> problems; ///< defects of Tutti, in words
  std::vector<std::string> left_out; ///< rows that contradict themselves, in words
};

/// Errors: InputError with the row's line where it is of another number of NPUs, by what it or its
/// bus factor says.
void require_npus(const MeasuredRow& row, std::uint32_t npus, const std::string& topology);

/// What rows have in common that are predicted alike.
using MeasuredProblem = std::tuple<CollectiveKind, std::int64_t, std::uint32_t>;
[[nodiscard]] MeasuredProblem problem_of(const MeasuredRow& row);

/// The case that predicts a row: `of` has all but the collective and its size; `in` is what else is
/// said of it ("group=0-7").
[[nodiscard]] Case case_of(const MeasuredRow& row, const Case& of, const std::string& in);

/// `of` and `in` as in case_of(). Rows alike are predicted once. Errors: InputError as
/// require_npus(); those of `evaluate`.
[[nodiscard]] MeasurementComparison compare_measurements(const Case& of, const std::string& in,
                                                         std::span<const MeasuredRow> rows,
                                                         const Evaluator& evaluate);

/// `off`: |ln ratio| of each row with a prediction.
[[nodiscard]] ComparisonError error_of(std::vector<double> off);
[[nodiscard]] ComparisonError error_of(std::span<const ComparedRow> rows);

} // namespace tutti
