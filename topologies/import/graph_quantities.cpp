// Why: a bandwidth or a latency has to have a unit, in its value or in its name. A bare number is
// refused, as other programs mean Gb/s, GB/s or Mb/s by it.
// Source: topology-zoo.org (LinkSpeedRaw is in bits/s).
#include "topologies/import/graph_quantities.hpp"

#include "sim/text.hpp"
#include "topologies/import/quantity_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace tutti::topologies {

namespace {

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
                        fmt::format("{} {} {}", attribute.key, short_quote(text), why));
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
  const std::string plain = number + *known;
  try {
    return parse(plain);
  } catch (const InputError& e) {
    throw places.error(attribute.at, quoting(e.what(), plain, text));
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
  std::string_view unit = trimmed(text.substr(length));
  // "G", "Gb" and "GbE" are Gb/s where people draw lines.
  std::string_view letter = unit;
  for (const std::string_view end : {"E", "b"})
    if (letter.size() > 1 && letter.ends_with(end)) letter.remove_suffix(1);
  const bool is_letter =
      letter.size() == 1 && std::string_view("KMGTg").find(letter[0]) != std::string_view::npos;
  if (!is_letter && !rate_unit(unit)) return std::nullopt;
  const std::string rate = fmt::format("{}{}{}", text.substr(0, length), is_letter ? letter : unit,
                                       is_letter ? "b/s" : "");
  return graph_bandwidth({label.key, rate, label.at}, "", places);
}

} // namespace tutti::topologies
