// What is shown of a study beside its paper: a row for each expectation with its verdict, the
// explanations below, and how many rows have which verdict.
#pragma once

#include "experiments/driver/records/table.hpp"
#include "sim/words.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

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
