// Why: InfraGraph gives a bandwidth in bits, bytes or transfers, with other keys before version 1.0
// than since. Transfers are those of PCIe's lanes: bytes follow from the number of lanes, where a
// link's words say it, and from the code that this speed comes with.
#include "topologies/import/infragraph.hpp"
#include "topologies/import/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

namespace tutti::topologies {

namespace {

using InfraUnits = std::vector<std::pair<std::string, std::string>>; ///< as now, as before

struct InfraQuantity {
  std::string unit; ///< as now
  const YamlValue* given = nullptr;
};

/// None: both are empty.
InfraQuantity infra_quantity(const YamlValue& value, const InfraUnits& units) {
  std::vector<std::string> known{"choice"};
  for (const auto& [now, before] : units) {
    known.push_back(now);
    if (before != now) known.push_back(before);
  }
  const YamlFields keys(value, known);
  const YamlValue* choice = keys.find("choice");
  InfraQuantity found;
  for (const auto& [now, before] : units)
    for (const std::string& unit : {now, before}) {
      const YamlValue* given = keys.find(unit);
      if (given == nullptr || given == found.given) continue;
      if (choice != nullptr && choice->word() != now && choice->word() != before) continue;
      if (found.given != nullptr) throw given->error("a second value");
      found = {now, given};
    }
  if (found.given == nullptr && choice != nullptr) {
    known.erase(known.begin());
    if (std::ranges::find(known, choice->word()) == known.end())
      throw choice->error(unknown_name("unit", choice->text.substr(0, 64), known));
    throw choice->error(fmt::format("no \"{}\"", choice->text));
  }
  return found;
}

long double infra_amount(const YamlValue& value) {
  const long double found = value.number();
  if (found < 0) throw value.error(fmt::format("{} is negative", short_quote(value.text)));
  return found;
}

/// Of "PCIe 3.0 x8"; 0: it says none.
int stated_lanes(const std::string& words) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  int found = 0;
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    if (words[at] != 'x' || (at > 0 && is_part(words[at - 1]))) continue;
    for (const int lanes : {1, 2, 4, 8, 16, 32}) {
      const std::string text = std::to_string(lanes);
      const std::size_t end = at + 1 + text.size();
      if (words.compare(at + 1, text.size(), text) != 0) continue;
      if (end < words.size() && is_part(words[end])) continue;
      if (found != 0 && found != lanes) return 0;
      found = lanes;
    }
  }
  return found;
}

void set_infra_rate(InfraLink& link, const YamlValue& value, const std::string& words) {
  const auto [unit, given] =
      infra_quantity(value, {{"gigabits_per_second", "giga_bits_per_second"},
                             {"gigabytes_per_second", "giga_bytes_per_second"},
                             {"gigatransfers_per_second", "giga_transfers_per_second"}});
  if (given == nullptr) return;
  long double rate = infra_amount(*given);
  if (rate <= 0 || rate > 1e9L)
    throw given->error(
        fmt::format("{} is out of range (more than 0, at most 1e9)", short_quote(given->text)));
  const auto transfers = static_cast<double>(rate);
  const int stated = stated_lanes(words), lanes = stated > 0 ? stated : 16;
  std::string_view code = "128b/130b";
  long double data = 128.0L / 130;
  if (transfers < 8) code = "8b/10b", data = 8.0L / 10;
  if (transfers >= 64) code = "flits of 242 in 256 bytes", data = 242.0L / 256;
  if (unit == "gigabits_per_second") rate /= 8;
  if (unit == "gigatransfers_per_second") rate *= static_cast<long double>(lanes) / 8 * data;
  link.rate = Bandwidth{static_cast<std::int64_t>(std::llround(rate * 1e9L))};
  if (link.rate->bytes_per_second <= 0) throw given->error("less than a byte a second");
  if (unit == "gigatransfers_per_second")
    link.lanes = fmt::format("{} GT/s, {} lanes{}, {}: {}", transfers, lanes,
                             stated > 0 ? "" : " (it doesn't say how many)", code,
                             short_rate_text(static_cast<double>(link.rate->bytes_per_second)));
}

void set_infra_latency(InfraLink& link, const YamlValue& value) {
  const auto [unit, given] = infra_quantity(value, {{"ms", "ms"}, {"us", "us"}, {"ns", "ns"}});
  if (given == nullptr) return;
  const long double ps = infra_amount(*given) * (unit == "ms" ? 1e9L : unit == "us" ? 1e6L : 1e3L);
  if (ps > 1e18L) throw given->error(fmt::format("{} is too long", short_quote(given->text)));
  link.latency = Time{static_cast<std::int64_t>(std::llround(ps))};
  if (link.latency->ps == 0 && ps > 0) throw given->error("less than a picosecond");
}

} // namespace

InfraLink parse_infra_link(const YamlValue& value) {
  const YamlFields keys(value, {"name", "description", "physical", "bandwidth", "latency"});
  InfraLink read;
  read.name = infra_name(keys);
  std::string words = read.name;
  if (const YamlValue* description = keys.find("description")) words += " " + description->text;
  const YamlValue* rate = keys.find("bandwidth");
  const YamlValue* latency = keys.find("latency");
  if (const YamlValue* physical = keys.find("physical")) {
    const YamlFields inner(*physical, {"bandwidth", "latency"});
    for (auto [outside, key] : {std::pair{&rate, "bandwidth"}, std::pair{&latency, "latency"}})
      if (const YamlValue* inside = inner.find(key)) {
        if (*outside != nullptr) throw inside->error(fmt::format("the {} stands twice", key));
        *outside = inside;
      }
  }
  if (rate != nullptr) set_infra_rate(read, *rate, words);
  if (latency != nullptr) set_infra_latency(read, *latency);
  return read;
}

} // namespace tutti::topologies
