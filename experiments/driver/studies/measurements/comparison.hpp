// Measured rows beside what is predicted for them.
#pragma once

#include "experiments/driver/studies/measurements/measured_row.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

struct ComparedRow {
  MeasuredRow measured;
  std::optional<Time> predicted;    ///< none: the algorithm has no schedule
  std::optional<Interval> interval; ///< of the prediction, where the transport knows one
  std::string why_not;              ///< without a prediction, in words
  Time bound;                       ///< what nothing on this network is faster than
  std::string bound_words;
  std::string picked; ///< the algorithm's own choice, in words
  double factor = 1;  ///< busbw over algbw
  /// predicted / measured; 0 without a prediction.
  [[nodiscard]] double ratio() const;
  /// The network can't have measured it: by more than what rounds a printed time.
  [[nodiscard]] bool is_impossible() const;
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
};

/// Errors: InputError with the row's line where it is of another number of NPUs, by what it or its
/// bus factor says.
void require_npus(const MeasuredRow& row, std::uint32_t npus, const std::string& topology);

/// `of` has all but the collective and its size. Rows alike are predicted once; `evaluate` takes
/// all that are needed. Errors: InputError as require_npus(); those of `evaluate`.
[[nodiscard]] MeasurementComparison
compare_measurements(const Case& of, std::span<const MeasuredRow> rows,
                     const std::function<std::vector<Evaluation>(std::span<const Case>)>& evaluate);

/// `off`: |ln ratio| of each row with a prediction.
[[nodiscard]] ComparisonError error_of(std::vector<double> off);
[[nodiscard]] ComparisonError error_of(std::span<const ComparedRow> rows);

} // namespace tutti
