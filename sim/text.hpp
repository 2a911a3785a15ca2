// Small helpers for the text forms that users write: `name:8x8,key=value`, `0-7+16-23`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// The parts between separators; one empty part for empty text.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
[[nodiscard]] std::string_view trimmed(std::string_view text);
[[nodiscard]] std::string joined(const std::vector<std::string>& words, std::string_view separator);
/// ASCII letters become lower case.
[[nodiscard]] std::string lower_case(std::string_view text);
/// Not empty, and decimal digits alone.
[[nodiscard]] bool is_digits(std::string_view text);
/// The first ones, and how many more there are: "a, b and 3 more".
[[nodiscard]] std::string few_of(const std::vector<std::string>& words, std::size_t most = 6);
/// Decimal, the whole text. Errors: InputError naming `what`, the text and the range.
[[nodiscard]] std::int64_t parse_integer(std::string_view text, std::string_view what,
                                         std::int64_t low, std::int64_t high);
/// The same with fractions and powers of ten ("0.5", "1e-3").
[[nodiscard]] double parse_decimal(std::string_view text, std::string_view what, double low,
                                   double high);
/// `0-7+16+20-23` to a list in that order. Errors: InputError.
[[nodiscard]] std::vector<std::uint32_t> parse_ranges(std::string_view text, std::string_view what);
/// The inverse: ascending runs become ranges.
[[nodiscard]] std::string ranges_text(const std::vector<std::uint32_t>& values);

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0; ///< in bytes; 0: no UTF-8
};
/// The first code point of a text that isn't empty, by RFC 3629: in no more bytes than it needs,
/// no surrogate, at most U+10FFFF.
[[nodiscard]] CodePoint first_code_point(std::string_view text);

} // namespace tutti
