// The figures of an evaluation that expectations and charts speak of.
#pragma once

#include "experiments/driver/studies/runs/evaluation.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tutti {

struct Metric {
  enum class Kind : std::uint8_t {
    algbw,             ///< bytes/s
    busbw,             ///< bytes/s
    time,              ///< collective time in ps
    gap,               ///< collective time over its lower bound
    synthesis_seconds, ///< CPU seconds, all threads together
    planned,           ///< the collective time that the algorithm expects, in ps
    planned_ratio,     ///< that over the replayed one: below 1 it expected too much
    fact,              ///< what the algorithm says of its answer, by name; without a unit
  };
  using enum Kind;
  Kind kind = Kind::algbw;
  std::string name; ///< of the fact; else empty

  Metric(Kind of_kind, std::string fact_name = {}) // NOLINT: a kind alone is a metric
      : kind(of_kind), name(std::move(fact_name)) {}
  bool operator==(const Metric&) const = default;
};
[[nodiscard]] std::string to_text(const Metric& metric); ///< "algbw", ..., "fact:fluid_seconds"
/// Errors: InputError with the known names.
[[nodiscard]] Metric parse_metric(std::string_view text);

/// None where the evaluation has no such replay (what it took to fail is no figure either), or no
/// such fact, or where the algorithm expects nothing.
[[nodiscard]] std::optional<double> value_of(const Evaluation& evaluation, std::size_t replay,
                                             const Metric& metric);
/// For tables: four significant digits with the metric's unit.
[[nodiscard]] std::string value_text(double value, const Metric& metric);

/// What a problem's size is measured by, for how a metric grows with it.
enum class ProblemSize : std::uint8_t { npus, transfers };
[[nodiscard]] std::string_view to_text(ProblemSize size); ///< "npus", "transfers"
/// Errors: InputError with the known names.
[[nodiscard]] ProblemSize parse_problem_size(std::string_view text);
[[nodiscard]] double value_of(const Evaluation& evaluation, ProblemSize size);

} // namespace tutti
