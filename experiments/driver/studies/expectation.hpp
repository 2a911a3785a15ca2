// What a paper says, held against what we get. An expectation is of rows of a study's records and
// of one of their columns, whatever the kind of study.
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
//   summary = "geometric_mean"             # of several values: or arithmetic_mean, largest,
//                                          # smallest, error: exp(mean |log|) - 1. Rows that differ
//                                          # in nothing but their seed are one, by their median
//   best_of = "label"                      # rows of `of` that differ in this column, too, are one
//                                          # value: the best
//   exponent_over = "npus"                 # instead: how the values grow with this column, by
//                                          # least squares of logarithms
//   value = 1.98                           # or at_most, at_least
//   tolerance = "2%"                       # of the value; default 0% of at_most and at_least
//   ours = 1.57                            # what ours is known to be where it is no match
//   ours_tolerance = "1%"                  # of it
//   stated = "up to"                       # or about, mean: how the paper states its value, whose
//                                          # direction then counts
//   left_open = {size = ["16MB", "1GB"]}   # what the paper doesn't state, and may have meant
//   apart = "ideal links"                  # counted under this name, not with the others
//   beside = {tacos = "tacos_paper"}       # shown, not judged: the value with another algorithm in
//                                          # the place of one that `of` or `over` names
//   repeats_within = 0.1                   # of [[executions]]: not judged where a row's spread is
//                                          # more
//   explanation = "..."                    # a text below the table
//   rows = [{size = "1MB", value = 2.1}]   # an expectation each, with these keys in place of the
//                                          # table's; columns are of both `of` and `over`
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/records/table.hpp"
#include "sim/words.hpp"

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
  /// Rows like `of` that stand for it where they are better.
  std::vector<std::vector<std::size_t>> alternatives = {};
  bool operator==(const Quotient&) const = default;
};

/// How several values become one.
enum class Summary : std::uint8_t {
  single, ///< there is only one
  geometric_mean,
  arithmetic_mean,
  largest,
  smallest,
  error,    ///< exp(mean |log value|) - 1: how far ratios are from 1
  exponent, ///< of the power law that fits the values over the size of their problems
};

enum class Limit : std::uint8_t { equal, at_most, at_least };

/// How a paper states a value: of "up to 2.56", "about 4" and means over cases that it doesn't
/// name, only the direction can be held against ours.
enum class Stated : std::uint8_t { exactly, up_to, about, mean };

/// What ours is known to be where it doesn't match.
struct KnownValue {
  double value = 0, tolerance = 0; ///< as the expectation's own
};

/// What a paper doesn't state: the expectation's values for each of what it may have been.
struct LeftOpen {
  std::string column; ///< "size": without its unit
  struct Choice {
    std::string text; ///< "16MB"
    std::vector<Quotient> values;
  };
  std::vector<Choice> choices;
};

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
  std::optional<KnownValue> ours = {}; ///< none: only a match will do
  Stated stated = Stated::exactly;
  std::optional<LeftOpen> left_open = {};
  std::optional<Beside> beside = {}; ///< shown with ours, and not judged
  /// Judged only where no row's `spread_column` is above: what a busy machine decides is no
  /// verdict.
  std::optional<double> repeats_within = {};
  std::string apart;       ///< the name under which it is counted apart; empty: with the others
  std::string explanation; ///< a text below the table
};

/// How much a row's repetitions differ: 0.1 where the highest is 10 % above the lowest.
inline constexpr std::string_view spread_column = "ratio_spread";

/// All but `match` and `not_judged` need `ours`: what isn't a match is known, with its number.
enum class Agreement : std::uint8_t {
  match,           ///< within the tolerance (or beyond a limit on its good side)
  direction_holds, ///< of what is stated loosely: the same winner, and within `direction_factor`
  left_open,       ///< one choice of what isn't stated gives the paper's value in all rows
  differs,         ///< none of these, and ours is what it is known to be
  unexpected,      ///< ours isn't what it is known to be, or there is no value: the run fails
  not_judged,      ///< measured values that don't repeat themselves: shown, and no more
};
inline constexpr Words<Agreement, 6> agreement_words{
    "verdict",
    {"match", "direction holds", "left open", "differs", "unexpected", "not judged"},
    Agreement::match};
[[nodiscard]] constexpr std::string_view to_text(Agreement agreement) {
  return agreement_words.text(agreement);
}
inline constexpr double direction_factor = 1.25;

/// Whether ours / theirs - 1 is within the tolerance, or on the good side of a limit.
[[nodiscard]] bool is_within(double deviation, double tolerance, Limit limit);

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
  Agreement agreement = Agreement::unexpected;
  std::string apart;       ///< "seconds": the name under which it is counted apart
  std::string explanation; ///< the experiment's, or why there is no value
  std::optional<ComparedBeside> beside = {};
};

/// One comparison per expectation. What is left open must be the same in all of them. `places`: the
/// record of each planned row; empty: they are in the same order. A planned row without a place, or
/// without a record there, wasn't run.
[[nodiscard]] std::vector<Comparison> compare(std::span<const Expectation> expectations,
                                              const Records& records,
                                              std::span<const std::size_t> places = {});

/// The last column numbers the explanations of comparison_notes().
[[nodiscard]] Table comparison_table(std::span<const Comparison> comparisons);
/// Each explanation once, in the order of its first row.
[[nodiscard]] std::vector<std::string> comparison_notes(std::span<const Comparison> comparisons);
/// "40 rows: 26 match, 14 differ; apart, seconds, 9 rows: 9 match\n"
[[nodiscard]] std::string comparison_tally(std::span<const Comparison> comparisons);

/// The table, what is counted, and the explanations below it.
[[nodiscard]] std::string comparison_text(std::span<const Comparison> comparisons,
                                          const TableForm& form);
/// The same with a heading, as GitHub renders it; a vertical bar in a cell is escaped.
[[nodiscard]] std::string comparison_markdown(const std::string& title,
                                              std::span<const Comparison> comparisons);

/// How many rows there are, and of each verdict, beside what is counted apart; for tables of
/// several experiments.
[[nodiscard]] std::vector<Column> verdict_columns();
[[nodiscard]] std::vector<std::string> verdict_cells(std::span<const Comparison> comparisons);

/// True where none is unexpected.
[[nodiscard]] bool all_agree(std::span<const Comparison> comparisons);

} // namespace tutti
