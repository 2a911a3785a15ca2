// Why: a bandwidth or a latency has to have a unit, in its value or in its name. A bare number is
// refused, as other programs mean Gb/s, GB/s or Mb/s by it. People write units in many ways, and
// numbers with powers of ten, where sim/units.hpp has one way and is exact: so they are put into
// its words.
// Source: topology-zoo.org (LinkSpeedRaw is in bits/s).
#include "topologies/import/graph_quantities.hpp"

#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace tutti::topologies {

namespace {

/// As sim/units.hpp has it: "Gbps", "gbit/s" and "Gb/s" are bits, "GBps" and "GByte/s" bytes.
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

/// How much of the text is a number: digits, a fraction, a power of ten. None: 0.
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

/// "1.25e-3" as "0.00125", since units are read exactly. Empty: beyond all bounds.
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

/// The number without a power of ten, then the unit, as `units` has it: what `parse` reads. `ways`:
/// how it may be written.
template <typename Value>
Value graph_quantity(const GraphAttribute& attribute, std::string_view unit_of_name,
                     const TextPlaces& places, std::string_view ways,
                     std::optional<std::string> (*units)(std::string_view),
                     Value (*parse)(std::string_view)) {
  const std::string_view text = trimmed(attribute.text);
  const auto refuse = [&](const std::string& why) {
    return places.error(attribute.at,
                        fmt::format("{} \"{}\" {}", attribute.key, text.substr(0, 40), why));
  };
  constexpr std::size_t longest = 100;
  const std::size_t length = number_length(text.substr(0, longest));
  const std::string_view own_unit = trimmed(text.substr(length));
  if (text.size() > longest || length == 0)
    throw refuse(fmt::format("is not a number with a unit ({})", ways));
  if (own_unit.empty() && unit_of_name.empty()) throw refuse(fmt::format("has no unit ({})", ways));
  if (!own_unit.empty() && !unit_of_name.empty() && own_unit != unit_of_name)
    throw refuse("has a unit, and its name has another one");
  const std::string number = without_power(text.substr(0, length));
  if (number.empty()) throw refuse("is out of range");
  const std::string_view unit = own_unit.empty() ? unit_of_name : own_unit;
  const auto known = units(unit);
  if (!known)
    throw places.error(attribute.at, fmt::format("{} has the unknown unit \"{}\" ({})",
                                                 attribute.key, unit, ways));
  try {
    return parse(number + *known);
  } catch (const InputError& e) {
    throw places.error(attribute.at, e.what());
  }
}

} // namespace

std::optional<LinkKey> link_key(std::string_view key) {
  if (same_but_for_case(key, "linkspeedraw")) return LinkKey{LinkQuantity::bandwidth, "b/s"};
  const std::size_t end = std::min(key.find_first_of(" _(["), key.size());
  std::string unit;
  for (const char c : key.substr(end))
    if (std::string_view(" _()[]").find(c) == std::string_view::npos) unit += c;
  for (const std::string_view name : {"bandwidth", "bw", "capacity", "rate", "speed"})
    if (same_but_for_case(key.substr(0, end), name)) return LinkKey{LinkQuantity::bandwidth, unit};
  for (const std::string_view name : {"latency", "delay", "lat"})
    if (same_but_for_case(key.substr(0, end), name)) return LinkKey{LinkQuantity::latency, unit};
  return std::nullopt;
}

Bandwidth graph_bandwidth(const GraphAttribute& attribute, std::string_view unit_of_name,
                          const TextPlaces& places) {
  return graph_quantity(attribute, unit_of_name, places,
                        "say 400Gbps or 50GB/s, or name it bandwidth_Gbps (bits) or "
                        "bandwidth_GBps (bytes)",
                        rate_unit, parse_bandwidth);
}

Time graph_time(const GraphAttribute& attribute, std::string_view unit_of_name,
                const TextPlaces& places) {
  return graph_quantity(attribute, unit_of_name, places,
                        "say 1.3us, or name it latency_us or latency_ns", time_unit, parse_time);
}

std::optional<Bandwidth> labelled_bandwidth(const GraphAttribute& label, const TextPlaces& places) {
  const std::string_view text = trimmed(label.text);
  const std::size_t length = number_length(text);
  if (length == 0 || length > 20) return std::nullopt;
  const std::string_view unit = trimmed(text.substr(length));
  const bool is_letter = unit == "G" || unit == "M" || unit == "T";
  if (!is_letter && !rate_unit(unit)) return std::nullopt;
  const std::string rate =
      fmt::format("{}{}{}", text.substr(0, length), unit, is_letter ? "b/s" : "");
  return graph_bandwidth({label.key, rate, label.at}, "", places);
}

} // namespace tutti::topologies
