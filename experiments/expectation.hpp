// What a paper says, held against what we get: match, differs with a reason, or differs.
#pragma once

#include "experiments/evaluation.hpp"
#include "experiments/metric.hpp"
#include "experiments/table.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// A value, or the ratio of two, from the evaluations of an experiment.
struct Expectation {
  std::string label;
  Metric metric = Metric::algbw;
  std::size_t of = 0;              ///< index of a case
  std::optional<std::size_t> over; ///< of another: the value is `of` / `over`
  std::size_t replay = 0;          ///< index into Evaluation::replays
  double paper = 0;                ///< the paper's value: a ratio, or in the metric's unit
  double tolerance = 0;            ///< of the paper's value: 0.02 for 2 %
  std::string explanation;         ///< why ours may differ; empty: it may not
};

enum class Agreement : std::uint8_t {
  match,             ///< within the tolerance
  differs_explained, ///< outside of it, for a reason that the experiment states
  differs,           ///< outside of it, or there is no value: the run fails
};
[[nodiscard]] std::string_view to_text(Agreement agreement); ///< "differs, explained"

struct Comparison {
  std::string label;
  std::string paper, ours; ///< with units
  double value = 0;        ///< ours; NaN where there is none
  double deviation = 0;    ///< ours / paper - 1; NaN where there is none
  Agreement agreement = Agreement::differs;
  std::string explanation; ///< the experiment's, or why there is no value
};

/// One comparison per expectation. Pre: the indices are those of `evaluations`.
[[nodiscard]] std::vector<Comparison> compare(std::span<const Expectation> expectations,
                                              std::span<const Evaluation> evaluations);

[[nodiscard]] Table comparison_table(std::span<const Comparison> comparisons);

/// A heading and a table that GitHub renders; a vertical bar in a cell is escaped.
[[nodiscard]] std::string comparison_markdown(const std::string& title,
                                              std::span<const Comparison> comparisons);

/// True where none differs without an explanation.
[[nodiscard]] bool all_agree(std::span<const Comparison> comparisons);

} // namespace tutti
