// What a paper says, held against what we get: match, differs with a reason, or differs.
#pragma once

#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/runs/metric.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// A case's value, or its ratio to another's.
struct Quotient {
  std::size_t of = 0;              ///< index of a case
  std::optional<std::size_t> over; ///< of another: the value is `of` / `over`
  bool operator==(const Quotient&) const = default;
};

/// How several values become one.
enum class Summary : std::uint8_t {
  single, ///< there is only one
  geometric_mean,
  arithmetic_mean,
  exponent, ///< of the power law that fits the values over the size of their problems
};
/// "geometric" or "arithmetic". Errors: InputError with the known names.
[[nodiscard]] Summary parse_mean(const std::string& text);

/// What a paper says of the evaluations of an experiment.
struct Expectation {
  std::string label;
  Metric metric = Metric::algbw;
  std::vector<Quotient> values; ///< at least one, several in a summary of several
  Summary summary = Summary::single;
  ProblemSize size = ProblemSize::npus; ///< for exponents
  std::size_t replay = 0;               ///< index into Evaluation::replays
  double paper = 0;        ///< the paper's value: a ratio, an exponent, or in the metric's unit
  double tolerance = 0;    ///< of the paper's value: 0.02 for 2 %
  bool at_most = false;    ///< the paper gives an upper limit: less is a match too
  std::string explanation; ///< why ours may differ; empty: it may not
};

enum class Agreement : std::uint8_t {
  match,             ///< within the tolerance (or below, where the paper gives an upper limit)
  differs_explained, ///< outside of it, for a reason that the experiment states
  differs,           ///< outside of it, or there is no value: the run fails
  not_judged,        ///< measured values that don't repeat themselves: shown, and no more
};
[[nodiscard]] std::string_view to_text(Agreement agreement); ///< "differs, explained"

/// Whether ours / theirs - 1 is within the tolerance; `at_most`: or below.
[[nodiscard]] bool is_within(double deviation, double tolerance, bool at_most);
/// What doesn't agree differs, with the explanation if there is one.
[[nodiscard]] Agreement judged(bool agrees, const std::string& explanation);

struct Comparison {
  std::string label;
  std::string paper, ours; ///< with units; means also with the range of what they are of
  double value = 0;        ///< ours; NaN where there is none
  double deviation = 0;    ///< ours / paper - 1; NaN where there is none
  Agreement agreement = Agreement::differs;
  std::string explanation; ///< the experiment's, or why there is no value
};

/// The value that several have together. Pre: at least one, exactly one of Summary::single; no
/// exponent.
[[nodiscard]] double summarised(std::span<const double> values, Summary summary);
/// The value by `text`, of means with the range of what they are of: "2.61 (1.95 to 3.40)".
[[nodiscard]] std::string summary_text(double value, std::span<const double> values,
                                       Summary summary,
                                       const std::function<std::string(double)>& text);
/// Fills in deviation and agreement. Pre: the comparison has its value and explanation.
void judge(Comparison& comparison, double paper, double tolerance, bool at_most);

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
