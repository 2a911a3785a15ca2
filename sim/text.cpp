// Numbers are read by std::from_chars: it doesn't depend on the locale and tells where it stopped,
// so that text with anything left over is refused.

#include "sim/text.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <span>

namespace tutti {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string few_of(const std::vector<std::string>& words, std::size_t most) {
  if (words.size() <= most) return joined(words, ", ");
  return fmt::format("{} and {} more", fmt::join(std::span(words).first(most), ", "),
                     words.size() - most);
}

std::int64_t parse_integer(std::string_view text, std::string_view what, std::int64_t low,
                           std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = status == std::errc{} && end == text.data() + text.size();
  if (status == std::errc::result_out_of_range || (whole && (value < low || value > high)))
    throw InputError(fmt::format("{} {} is out of range ({} .. {})", what, text, low, high));
  if (!whole) throw InputError(fmt::format("{} \"{}\" is not a whole number", what, text));
  return value;
}

double parse_decimal(std::string_view text, std::string_view what, double low, double high) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = end == text.data() + text.size() && !text.empty();
  if (!whole || status == std::errc::invalid_argument)
    throw InputError(fmt::format("{} \"{}\" is not a number", what, text));
  if (status != std::errc{} || !(value >= low && value <= high))
    throw InputError(fmt::format("{} {} is out of range ({} .. {})", what, text, low, high));
  return value;
}

std::vector<std::uint32_t> parse_ranges(std::string_view text, std::string_view what) {
  constexpr std::int64_t highest = 10'000'000;
  std::vector<std::uint32_t> values;
  for (const std::string_view part : split(text, '+')) {
    const std::size_t dash = part.find('-');
    const std::int64_t low = parse_integer(part.substr(0, dash), what, 0, highest);
    const std::int64_t high = dash == std::string_view::npos
                                  ? low
                                  : parse_integer(part.substr(dash + 1), what, 0, highest);
    if (high < low) throw InputError(fmt::format("{} range \"{}\" runs backwards", what, part));
    for (std::int64_t v = low; v <= high; ++v) values.push_back(static_cast<std::uint32_t>(v));
    if (values.size() > highest)
      throw InputError(fmt::format("{} list \"{}\" is too long", what, text));
  }
  return values;
}

std::string ranges_text(const std::vector<std::uint32_t>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t end = i + 1;
    while (end < values.size() && values[end] == values[end - 1] + 1) ++end;
    if (!text.empty()) text += '+';
    text += fmt::format("{}", values[i]);
    if (end - i > 1) text += fmt::format("-{}", values[end - 1]);
    i = end;
  }
  return text;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

CodePoint first_code_point(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length == 0 || first > 0xf4 || text.size() < length) return {};
  std::uint32_t value = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3fU);
  }
  const std::uint32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  const bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < least || value > 0x10ffff || is_surrogate) return {};
  return {value, length};
}

} // namespace tutti
