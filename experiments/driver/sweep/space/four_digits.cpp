// Bisection over the numbers that can be written with four digits, numbered through all decades.
// The condition (a network's cost, say) is costly and steps where a cable's technology changes, so
// there is nothing to interpolate; and four digits are what a reader of a table is to see.
#include "experiments/driver/sweep/space/four_digits.hpp"

#include "experiments/driver/sweep/space/axis.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <string>

namespace tutti::sweep {

namespace {

constexpr int numbers_per_decade = 9000; // 1000 .. 9999

int decade_of(double number) { return static_cast<int>(std::floor(std::log10(number))); }

/// The i-th from the beginning of a decade.
Value four_digit_number(int decade, int i, Unit unit) {
  const int digits = 1000 + i % numbers_per_decade;
  const int exponent = decade - 3 + i / numbers_per_decade;
  return tidied_number(std::strtod(fmt::format("{}e{}", digits, exponent).c_str(), nullptr), unit);
}

} // namespace

std::optional<Value> largest_of_four_digits(const Value& from, const Value& to,
                                            const std::function<bool(const Value&)>& holds) {
  if (!holds(from)) return std::nullopt;
  if (holds(to)) return to;
  const int decade = decade_of(from.number) - 1; // one more: log10 may round
  int low = 0;                                   // at most `from`, where it holds
  int high = numbers_per_decade * (decade_of(to.number) + 2 - decade); // at least `to`
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    const Value number = four_digit_number(decade, middle, from.unit);
    const bool fits = number.number <= from.number || (number.number < to.number && holds(number));
    (fits ? low : high) = middle;
  }
  const Value found = four_digit_number(decade, low, from.unit);
  return found.number <= from.number ? from : found;
}

bool has_text(double number, Unit unit) {
  constexpr double most = 9.2e18; // what 64 bits hold
  return number >= 0 && number <= (unit == Unit::seconds ? most * 1e-12 : most);
}

} // namespace tutti::sweep
