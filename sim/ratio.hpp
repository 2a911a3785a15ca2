// Small exact fractions: rounds per chunk, bandwidths in units of another.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace tutti {

/// Always in lowest terms, with a positive denominator. Results that don't fit 64 bits are an
/// InputError: none of what is counted here comes near.
class Ratio {
public:
  constexpr Ratio() = default;
  constexpr Ratio(std::int64_t whole) : numerator_(whole) {} // NOLINT: a number is a ratio
  /// Errors: InputError for a denominator of 0.
  Ratio(std::int64_t numerator, std::int64_t denominator);

  [[nodiscard]] constexpr std::int64_t numerator() const { return numerator_; }
  [[nodiscard]] constexpr std::int64_t denominator() const { return denominator_; }
  [[nodiscard]] std::int64_t floor() const;
  [[nodiscard]] std::int64_t ceil() const;
  [[nodiscard]] double value() const {
    return static_cast<double>(numerator_) / static_cast<double>(denominator_);
  }

  bool operator==(const Ratio&) const = default;
  std::strong_ordering operator<=>(const Ratio& other) const;

private:
  std::int64_t numerator_ = 0, denominator_ = 1;
};

[[nodiscard]] Ratio operator+(const Ratio& a, const Ratio& b);
[[nodiscard]] Ratio operator-(const Ratio& a, const Ratio& b);
[[nodiscard]] Ratio operator*(const Ratio& a, const Ratio& b);
/// Errors: InputError where b is 0.
[[nodiscard]] Ratio operator/(const Ratio& a, const Ratio& b);

[[nodiscard]] std::string to_text(const Ratio& ratio); ///< "7/6", "2"

} // namespace tutti
