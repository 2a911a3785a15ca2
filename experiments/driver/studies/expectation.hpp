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
#include "experiments/driver/studies/comparison.hpp"

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

inline constexpr double direction_factor = 1.25;

/// Whether ours / theirs - 1 is within the tolerance, or on the good side of a limit.
[[nodiscard]] bool is_within(double deviation, double tolerance, Limit limit);

/// One comparison per expectation. What is left open must be the same in all of them. `places`: the
/// record of each planned row; empty: they are in the same order. A planned row without a place, or
/// without a record there, wasn't run.
[[nodiscard]] std::vector<Comparison> compare(std::span<const Expectation> expectations,
                                              const Records& records,
                                              std::span<const std::size_t> places = {});

} // namespace tutti
