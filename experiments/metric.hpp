// The figures of a replay that expectations and charts speak of.
#pragma once

#include "experiments/evaluation.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti {

enum class Metric : std::uint8_t {
  algbw, ///< bytes/s
  busbw, ///< bytes/s
  time,  ///< collective time in ps
  gap,   ///< collective time over its lower bound
};
[[nodiscard]] std::string_view to_text(Metric metric); ///< "algbw", ...
/// Errors: InputError with the known names.
[[nodiscard]] Metric parse_metric(std::string_view text);

[[nodiscard]] double value_of(const Replay& replay, Metric metric);
/// For tables: four significant digits with the metric's unit.
[[nodiscard]] std::string value_text(double value, Metric metric);

} // namespace tutti
