// What a paper says, held against what we get: match, differs with a reason, or differs. An
// expectation is of rows of a study's records and of one of their columns, whatever the kind of
// study.
//
//   [[expect]]                             # of [[runs]]; [[training.expect]], ... of others
//   label = "TACOS / Ring on Mesh"
//   of = {topology = "Mesh", algorithm = "tacos"}   # by columns that tell rows apart, without
//                                          # their unit: a value, a list of which each will do, of
//                                          # sizes also "1MB..", "..4MB"; default all rows
//   over = {topology = "Mesh", algorithm = "ring"}  # the value is a ratio; several rows are
//                                          # paired that agree in all columns but the label and
//                                          # those for which `of` and `over` name other values.
//                                          # Without it: the value itself, with its unit
//   metric = "algbw"                       # a column, without its unit; default the study's
//   summary = "geometric_mean"             # of several values: or arithmetic_mean, largest, error:
//                                          # exp(mean |log|) - 1. Rows that differ in nothing but
//                                          # their seed are one value, by their median
//   exponent_over = "npus"                 # instead: how the values grow with this column, by
//                                          # least squares of logarithms
//   value = 1.98                           # or at_most, at_least
//   tolerance = "2%"                       # of the value; default 0% of at_most and at_least
//   beside = {tacos = "tacos_paper"}       # shown, not judged: the value with another algorithm in
//                                          # the place of one that `of` or `over` names
//   repeats_within = 0.1                   # of [[executions]]: not judged where a row's spread is
//                                          # more
//   explanation = "..."                    # makes a difference one that doesn't fail the run
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/records/table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Rows of a study's records: their median, or its ratio to another's.
struct Quotient {
  std::vector<std::size_t> of;   ///< at least one; several differ in their seed only
  std::vector<std::size_t> over; ///< likewise; none: the value is that of `of`
  bool operator==(const Quotient&) const = default;
};

/// How several values become one.
enum class Summary : std::uint8_t {
  single, ///< there is only one
  geometric_mean,
  arithmetic_mean,
  largest,
  error,    ///< exp(mean |log value|) - 1: how far ratios are from 1
  exponent, ///< of the power law that fits the values over the size of their problems
};

enum class Limit : std::uint8_t { equal, at_most, at_least };

/// An expectation's values with another algorithm in the place of one of its own.
struct Beside {
  std::string algorithm, in_place_of;
  std::vector<Quotient> values;
};

/// What a paper says of a study's rows.
struct Expectation {
  std::string label;
  RecordColumn metric;          ///< whose values count
  std::vector<Quotient> values; ///< at least one, several in a summary of several
  Summary summary = Summary::single;
  std::string size; ///< exponents: the column over which values grow
  Limit limit = Limit::equal;
  double value = 0;     ///< a ratio, an exponent, an error, or in the metric's unit: ps, bytes/s
  double tolerance = 0; ///< of the value: 0.02 for 2 %
  std::optional<Beside> beside = {}; ///< shown with ours, and not judged
  /// Judged only where no row's `spread_column` is above: what a busy machine decides is no
  /// verdict.
  std::optional<double> repeats_within = {};
  std::string explanation; ///< why ours may differ; empty: it may not
};

/// How much a row's repetitions differ: 0.1 where the highest is 10 % above the lowest.
inline constexpr std::string_view spread_column = "ratio_spread";

enum class Agreement : std::uint8_t {
  match,             ///< within the tolerance (or beyond a limit on its good side)
  differs_explained, ///< outside of it, for a reason that the experiment states
  differs,           ///< outside of it, or there is no value: the run fails
  not_judged,        ///< measured values that don't repeat themselves: shown, and no more
};
[[nodiscard]] std::string_view to_text(Agreement agreement); ///< "differs, explained"

/// Whether ours / theirs - 1 is within the tolerance, or on the good side of a limit.
[[nodiscard]] bool is_within(double deviation, double tolerance, Limit limit);
/// What doesn't agree differs, with the explanation if there is one.
[[nodiscard]] Agreement judged(bool agrees, const std::string& explanation);

/// What another algorithm comes to in the place of one of ours.
struct ComparedBeside {
  std::string algorithm, in_place_of;
  std::string text; ///< with its unit; "-" where there is no value
  double value = 0; ///< NaN where there is none
};

struct Comparison {
  std::string label;
  std::string paper, ours; ///< with units; means also with the range of what they are of
  double value = 0;        ///< ours; NaN where there is none
  double deviation = 0;    ///< ours / paper - 1; NaN where there is none
  Agreement agreement = Agreement::differs;
  std::string explanation; ///< the experiment's, or why there is no value
  std::optional<ComparedBeside> beside = {};
};

/// One comparison per expectation. `places`: the record of each planned row; empty: they are in the
/// same order. A planned row without a place, or without a record there, wasn't run.
[[nodiscard]] std::vector<Comparison> compare(std::span<const Expectation> expectations,
                                              const Records& records,
                                              std::span<const std::size_t> places = {});

[[nodiscard]] Table comparison_table(std::span<const Comparison> comparisons);

/// A heading and a table that GitHub renders; a vertical bar in a cell is escaped.
[[nodiscard]] std::string comparison_markdown(const std::string& title,
                                              std::span<const Comparison> comparisons);

/// True where none differs without an explanation.
[[nodiscard]] bool all_agree(std::span<const Comparison> comparisons);

} // namespace tutti
