// The figures of an evaluation that expectations and charts speak of.
#pragma once

#include "experiments/evaluation.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

enum class Metric : std::uint8_t {
  algbw,             ///< bytes/s
  busbw,             ///< bytes/s
  time,              ///< collective time in ps
  gap,               ///< collective time over its lower bound
  synthesis_seconds, ///< CPU seconds, all threads together
};
[[nodiscard]] std::string_view to_text(Metric metric); ///< "algbw", ...
/// Errors: InputError with the known names.
[[nodiscard]] Metric parse_metric(std::string_view text);

/// None where the evaluation has no such replay: what it took to fail is no figure either.
[[nodiscard]] std::optional<double> value_of(const Evaluation& evaluation, std::size_t replay,
                                             Metric metric);
/// For tables: four significant digits with the metric's unit.
[[nodiscard]] std::string value_text(double value, Metric metric);

/// What a problem's size is measured by, for how a metric grows with it.
enum class ProblemSize : std::uint8_t { npus, transfers };
[[nodiscard]] std::string_view to_text(ProblemSize size); ///< "npus", "transfers"
/// Errors: InputError with the known names.
[[nodiscard]] ProblemSize parse_problem_size(std::string_view text);
[[nodiscard]] double value_of(const Evaluation& evaluation, ProblemSize size);

} // namespace tutti
