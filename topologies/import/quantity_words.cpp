// Why: people write units in many ways, and numbers with powers of ten, where sim/units.hpp has one
// way and is exact.
#include "topologies/import/quantity_words.hpp"

#include "sim/text.hpp"
#include "topologies/import/text_lines.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace tutti::topologies {

std::optional<std::string> rate_unit(std::string_view unit) {
  const bool is_lower = std::ranges::none_of(unit, [](unsigned char c) { return std::isupper(c); });
  const auto take = [&](std::string_view end) {
    if (!unit.ends_with(end)) return false;
    unit.remove_suffix(end.size());
    return true;
  };
  if (!take("ps") && !take("/s")) return std::nullopt;
  const bool is_byte = take("Bytes") || take("bytes") || take("Byte") || take("byte") || take("B");
  if (!is_byte && !take("bits") && !take("bit") && !take("b")) return std::nullopt;
  const bool is_binary = is_byte && take("i");
  if (unit.size() > 1) return std::nullopt;
  std::string prefix(unit);
  if (prefix == "K" || prefix == "k") prefix = is_binary ? "K" : "k";
  if (is_lower && !is_binary)
    for (const auto& [small, large] : {std::pair{"m", "M"}, {"g", "G"}, {"t", "T"}})
      if (prefix == small) prefix = large;
  return prefix + (is_binary ? "i" : "") + (is_byte ? "B/s" : "b/s");
}

std::optional<std::string> time_unit(std::string_view unit) {
  const std::string lower = lower_case(unit);
  for (const std::string_view known : {"ps", "ns", "us", "ms", "s"})
    if (lower == known) return std::string(known);
  // The micro sign and the Greek letter.
  if (lower == "\xC2\xB5s" || lower == "\xCE\xBCs") return "us";
  return std::nullopt;
}

std::size_t number_length(std::string_view text) {
  std::size_t at = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const auto digits = [&] {
    while (at < text.size() && (std::isdigit(static_cast<unsigned char>(text[at])) != 0)) ++at;
  };
  digits();
  if (at < text.size() && text[at] == '.') ++at;
  digits();
  if (text.substr(0, at).find_first_of("0123456789") == std::string_view::npos) return 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::size_t before = at++;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    const std::size_t first = at;
    digits();
    if (at == first) at = before;
  }
  return at;
}

std::string without_power(std::string_view number) {
  const std::size_t e = number.find_first_of("eE");
  if (e == std::string_view::npos) return std::string(number);
  std::string_view power_text = number.substr(e + 1);
  if (power_text.starts_with('+')) power_text.remove_prefix(1);
  int power = 0;
  const auto [end, fault] =
      std::from_chars(power_text.data(), power_text.data() + power_text.size(), power);
  constexpr int largest = 30;
  if (fault != std::errc() || end != power_text.data() + power_text.size() || power < -largest ||
      power > largest)
    return "";
  std::string digits(number.substr(0, e)), sign;
  if (digits.starts_with('-')) sign = "-", digits.erase(0, 1);
  auto point = static_cast<int>(std::min(digits.find('.'), digits.size()));
  std::erase(digits, '.');
  point += power;
  if (point < 0) digits.insert(0, static_cast<std::size_t>(-point), '0'), point = 0;
  if (static_cast<std::size_t>(point) > digits.size())
    digits.append(static_cast<std::size_t>(point) - digits.size(), '0');
  digits.insert(static_cast<std::size_t>(point), ".");
  while (digits.ends_with('0')) digits.pop_back();
  return sign + (digits.starts_with('.') ? "0" : "") + digits;
}

namespace {

std::string plain_quantity(std::string_view text,
                           std::optional<std::string> (*units)(std::string_view)) {
  text = trimmed(text);
  const std::size_t length = number_length(text);
  const auto unit = units(trimmed(text.substr(length)));
  const std::string number = length == 0 ? "" : without_power(text.substr(0, length));
  return unit && !number.empty() ? number + *unit : std::string(text);
}

} // namespace

std::string plain_rate(std::string_view text) { return plain_quantity(text, rate_unit); }
std::string plain_time(std::string_view text) { return plain_quantity(text, time_unit); }

std::string quoting(std::string message, const std::string& plain, std::string_view text) {
  const std::size_t at = message.find('"' + plain + '"');
  return at == std::string::npos ? message : message.replace(at + 1, plain.size(), text);
}

} // namespace tutti::topologies
