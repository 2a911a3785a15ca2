// Expressions over named values, in SQL's syntax and evaluated by SQLite: + - * /, = == <> < <= AND
// OR NOT, BETWEEN, IN, LIKE, CASE, functions such as pow, log2, sqrt, min, max, abs, round; texts
// in single quotes, quantities too ('2KiB'). Whole numbers are real ones: 1/2 is a half.
#pragma once

#include "experiments/driver/sweep/space/value.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tutti::sweep {

class Expression {
public:
  /// `known`: names that it may use. Errors: InputError with SQLite's words for bad syntax, for an
  /// unknown name (what is known, the nearest first), and for anything but an expression of values.
  Expression(std::string text, std::span<const std::string> known);
  ~Expression();
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;

  [[nodiscard]] const std::string& text() const { return text_; }
  /// The names that it uses, in the order of `known`.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  /// `values`: of names(), in their order. A null pointer is an unknown value, which makes most
  /// results unknown. The result's unit is none. Errors: InputError where the result is unknown
  /// (a division by zero) though all values are known, or not finite.
  /// Returns whether the result is known.
  bool evaluate(std::span<const Value* const> values, Value& result);
  /// Whether it holds: a number other than 0. Errors: as evaluate, and for a text.
  bool holds(std::span<const Value* const> values);

private:
  struct Statement;
  std::string text_;
  std::vector<std::string> names_;
  std::unique_ptr<Statement> statement_;
};

} // namespace tutti::sweep
