// Weak duality in rationals: any multipliers of the right signs bound the minimum, so the solver's
// duals are rounded to fractions by their continued fractions and the bound is evaluated exactly.
// Optimal duals mostly have small denominators, so coarse rounding often restores them; the best
// bound over several precisions counts.

#include "synth/solvers/proven_minimum.hpp"

#include <boost/multiprecision/cpp_int.hpp>

#include <array>
#include <cassert>
#include <cmath>
#include <limits>

namespace tutti {

namespace {

using Rational = boost::multiprecision::cpp_rational;
using Integer = boost::multiprecision::cpp_int;

// The last convergent of x's continued fraction with a denominator of at most `most`. 0 for what is
// beyond reason: any dual gives a bound.
Rational small_fraction(double x, std::int64_t most) {
  if (!(std::abs(x) < 1e9)) return 0;
  std::int64_t p = 1, q = 0, last_p = 0, last_q = 1; // p / q is the convergent before the first
  for (double rest = x;;) {
    const double whole = std::floor(rest);
    if (q > 0 && whole * static_cast<double>(q) > static_cast<double>(most)) break;
    const auto term = static_cast<std::int64_t>(whole);
    const std::int64_t next_q = term * q + last_q;
    if (next_q > most) break;
    const std::int64_t next_p = term * p + last_p;
    last_p = p, last_q = q, p = next_p, q = next_q;
    if (rest == whole) break;
    rest = 1 / (rest - whole);
  }
  return {p, q};
}

bool is_finite(double value) { return std::isfinite(value); }

// The dual as a small fraction where the row's sides allow its sign, else 0.
Rational row_price(const LinearProgram::Range& row, double dual, std::int64_t most_denominator) {
  if (!is_finite(dual > 0 ? row.low : row.high)) return 0;
  return small_fraction(dual, most_denominator);
}

// The least of factor * x for x in the range; nothing where that is minus infinity.
std::optional<Rational> least_product(const Rational& factor, const LinearProgram::Range& range) {
  if (factor == 0) return Rational(0);
  const double side = factor > 0 ? range.low : range.high;
  if (!is_finite(side)) return std::nullopt;
  return Rational(factor * Rational(side));
}

std::optional<Rational> bound_of(const LinearProgram& program, std::span<const double> duals,
                                 std::int64_t most_denominator) {
  std::vector<Rational> reduced;
  reduced.reserve(program.column_count());
  for (std::uint32_t c = 0; c < program.column_count(); ++c) reduced.emplace_back(program.cost(c));
  Rational bound = 0;
  for (std::uint32_t r = 0; r < program.row_count(); ++r) {
    const Rational price = row_price(program.row(r), duals[r], most_denominator);
    if (price == 0) continue;
    for (const Term& term : program.terms(r)) reduced[term.column] -= price * Rational(term.factor);
    bound += *least_product(price, program.row(r));
  }
  for (std::uint32_t c = 0; c < program.column_count(); ++c) {
    const std::optional<Rational> least = least_product(reduced[c], program.column(c));
    if (!least) return std::nullopt;
    bound += *least;
  }
  return bound;
}

std::optional<Ratio> as_ratio(const Rational& value) {
  const Integer numerator = boost::multiprecision::numerator(value);
  const Integer denominator = boost::multiprecision::denominator(value);
  if (numerator < std::numeric_limits<std::int64_t>::min() ||
      numerator > std::numeric_limits<std::int64_t>::max() ||
      denominator > std::numeric_limits<std::int64_t>::max())
    return std::nullopt;
  return Ratio(static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator));
}

} // namespace

std::optional<Ratio> proven_minimum(const LinearProgram& program, std::span<const double> duals) {
  assert(duals.size() == program.row_count());
  // Where the optimum has small denominators, coarse fractions are exact, while the finest contain
  // the rounding errors of the duals.
  constexpr std::array<std::int64_t, 7> denominators{1, 10, 100, 1000, 10'000, 100'000, 1'000'000};
  std::optional<Ratio> best;
  for (const std::int64_t most : denominators) {
    const std::optional<Rational> bound = bound_of(program, duals, most);
    if (!bound) continue;
    const std::optional<Ratio> ratio = as_ratio(*bound);
    if (ratio && (!best || *ratio > *best)) best = ratio;
  }
  return best;
}

} // namespace tutti
