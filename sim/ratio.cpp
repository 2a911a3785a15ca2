// Sums and products are formed in 128 bits and cut to lowest terms before they are narrowed, so
// that only results that do not fit 64 bits are errors.

#include "sim/ratio.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <limits>

namespace tutti {

namespace {

__extension__ typedef __int128 int128;

int128 common_divisor(int128 a, int128 b) {
  while (b != 0) {
    const int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

std::int64_t narrowed(int128 value) {
  if (value < std::numeric_limits<std::int64_t>::min() ||
      value > std::numeric_limits<std::int64_t>::max())
    throw InputError("a fraction doesn't fit 64 bits");
  return static_cast<std::int64_t>(value);
}

struct LowestTerms {
  std::int64_t numerator, denominator;
};

// Products of two 64-bit numbers are at most 2^126, and two of them add up to at most 2^127 - 2^63:
// a positive denominator is below 2^63.
LowestTerms lowest_terms(int128 numerator, int128 denominator) {
  if (denominator == 0) throw InputError("a fraction can't have the denominator 0");
  int128 divisor = common_divisor(numerator, denominator);
  if (denominator < 0) divisor = -divisor;
  return {narrowed(numerator / divisor), narrowed(denominator / divisor)};
}

Ratio ratio_of(int128 numerator, int128 denominator) {
  const LowestTerms parts = lowest_terms(numerator, denominator);
  return {parts.numerator, parts.denominator};
}

} // namespace

Ratio::Ratio(std::int64_t numerator, std::int64_t denominator) {
  const LowestTerms parts = lowest_terms(numerator, denominator);
  numerator_ = parts.numerator;
  denominator_ = parts.denominator;
}

std::int64_t Ratio::floor() const {
  const std::int64_t towards_zero = numerator_ / denominator_;
  return towards_zero - (numerator_ % denominator_ < 0 ? 1 : 0);
}

std::int64_t Ratio::ceil() const {
  const std::int64_t towards_zero = numerator_ / denominator_;
  return towards_zero + (numerator_ % denominator_ > 0 ? 1 : 0);
}

std::strong_ordering Ratio::operator<=>(const Ratio& other) const {
  const int128 left = int128{numerator_} * other.denominator_;
  const int128 right = int128{other.numerator_} * denominator_;
  if (left == right) return std::strong_ordering::equal;
  return left < right ? std::strong_ordering::less : std::strong_ordering::greater;
}

Ratio operator+(const Ratio& a, const Ratio& b) {
  return ratio_of(int128{a.numerator()} * b.denominator() + int128{b.numerator()} * a.denominator(),
                  int128{a.denominator()} * b.denominator());
}

Ratio operator-(const Ratio& a, const Ratio& b) {
  return ratio_of(int128{a.numerator()} * b.denominator() - int128{b.numerator()} * a.denominator(),
                  int128{a.denominator()} * b.denominator());
}

Ratio operator*(const Ratio& a, const Ratio& b) {
  return ratio_of(int128{a.numerator()} * b.numerator(), int128{a.denominator()} * b.denominator());
}

Ratio operator/(const Ratio& a, const Ratio& b) {
  return ratio_of(int128{a.numerator()} * b.denominator(), int128{a.denominator()} * b.numerator());
}

std::string to_text(const Ratio& ratio) {
  if (ratio.denominator() == 1) return fmt::format("{}", ratio.numerator());
  return fmt::format("{}/{}", ratio.numerator(), ratio.denominator());
}

} // namespace tutti
