// Expressions over named values, in the words of SQL and with its meaning:
//
//   either   = both {"or" both}
//   both     = negated {"and" negated}
//   negated  = "not" negated | equal
//   equal    = order {("=" | "==" | "<>" | "!=") order
//                     | ["not"] "in" "(" either {"," either} ")"
//                     | ["not"] "between" order "and" order
//                     | ["not"] "like" order}
//   order    = sum {("<" | "<=" | ">" | ">=") sum}
//   sum      = product {("+" | "-") product}
//   product  = joined {("*" | "/") joined}
//   joined   = signed {"||" signed}
//   signed   = ("-" | "+") signed | value
//   value    = number | text in '...' | name | "true" | "false" | "(" either ")"
//              | function "(" either {"," either} ")"
//              | "case" [either] {"when" either "then" either} ["else" either] "end"
//   function = abs, ceil, exp, floor, ifnull, iif, length, ln, log10, log2, max, min, mod, pow,
//              round, sign, sqrt
//
// Small and large letters are the same in words, names, functions and what `like` compares; a name
// may stand in double quotes, or in ${...}, where a text in single quotes has its value. A quantity
// in single quotes is a number ('2KiB'), and '' in a text is one quote.
//
// Numbers are real ones: 1/2 is a half. A text that reads as a number is one where a number is
// needed ('8' + 1), and any other text is an error there. Comparisons take it as it is: a number is
// less than every text, texts are compared letter by letter. What is true is 1, else 0; a number
// other than 0 holds. `||` and `like` see the text of a number ("64", "0.5"); in a pattern % stands
// for any letters, _ for one.
//
// A value may be unknown: a result that a point doesn't have, a division by 0, a function of what
// it isn't defined for, a `case` without a branch that holds. What is made of it is unknown, too,
// but for what doesn't depend on it: false in `and`, true in `or`, a match in `in`, a bound of
// `between` that doesn't hold, branches that aren't taken, and ifnull(a, b), which is b where a is
// unknown.
#pragma once

#include "sim/error.hpp"
#include "sim/expressions/value.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// The words for a name that isn't known, as unknown_name() has them.
using UnknownName = std::string (*)(std::string_view what, std::string_view name,
                                    std::span<const std::string> known);

class Expression {
public:
  /// `known`: names that it may use. Errors: InputError with the column, what was found there and
  /// what may stand there; more than 10,000 letters, or 200 values within each other.
  Expression(std::string text, std::span<const std::string> known,
             UnknownName unknown = unknown_name);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// The names that it uses, as `known` has them, in the order in which it names them.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  /// `values`: of names(), in their order; null pointers are unknown. The result, without a unit;
  /// nothing: unknown. Errors: InputError where the result is unknown though all values are known
  /// (a division by zero), where it isn't finite, and for a text that is no number where one is
  /// needed.
  [[nodiscard]] std::optional<Value> evaluate(std::span<const Value* const> values) const;
  /// Whether it holds: a number other than 0; what is unknown doesn't. Errors: as evaluate, and for
  /// a text.
  [[nodiscard]] bool holds(std::span<const Value* const> values) const;

  struct Term; ///< a value with what it is made of

private:
  std::string text_;
  std::vector<std::string> names_;
  std::shared_ptr<const Term> root_;
};

} // namespace tutti
