// Why: InfraGraph gives a bandwidth in bits, bytes or transfers, with other keys before version 1.0
// than since. Transfers are those of PCIe's lanes: bytes follow from the number of lanes, where a
// link's words say it, and from the code that this speed comes with.
//
// Where there is no bandwidth, a link's name or description may still say what it is: "NVLINK 3.0",
// "Gen 4 PCIe x8". Words that name two generations, or none, say nothing.
#include "sim/text.hpp"
#include "topologies/import/infragraph.hpp"
#include "topologies/import/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>
#include <utility>

namespace tutti::topologies {

namespace {

using InfraUnits = std::vector<std::pair<std::string, std::string>>; ///< as now, as before

struct InfraQuantity {
  std::string unit; ///< as now
  std::optional<TreeValue> given = {};
};

/// None: both are empty.
InfraQuantity infra_quantity(const TreeValue& value, const InfraUnits& units) {
  std::vector<std::string> known{"choice"};
  for (const auto& [now, before] : units) {
    known.push_back(now);
    if (before != now) known.push_back(before);
  }
  value.allow_only(known);
  const auto choice = value.given("choice");
  InfraQuantity found;
  for (const auto& [now, before] : units)
    for (const std::string& unit : std::set{now, before}) {
      const auto given = value.given(unit);
      if (!given) continue;
      if (choice && choice->word() != now && choice->word() != before) continue;
      if (found.given) throw given->error("a second value");
      found = {now, given};
    }
  if (!found.given && choice) {
    known.erase(known.begin());
    if (std::ranges::find(known, choice->word()) == known.end())
      throw choice->error(unknown_name("unit", choice->text().substr(0, 64), known));
    throw choice->error(fmt::format("no \"{}\"", choice->text()));
  }
  return found;
}

long double infra_amount(const TreeValue& value) {
  const long double found = value.precise_number();
  if (found < 0) throw value.error(fmt::format("{} is negative", short_quote(value.text())));
  return found;
}

/// "pcie", "3.0", "x", "8" of "PCIe 3.0 x8".
struct LinkWord {
  std::string text; ///< letters, or a number: digits, of which one may follow a dot
  bool is_number = false;
  bool is_joined = false;  ///< nothing between the one before and it
  bool is_related = false; ///< no more than spaces, '-', '_' or '('
};

std::vector<LinkWord> link_words(std::string_view text) {
  constexpr std::size_t most = 4096;
  text = text.substr(0, most);
  const auto is_digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  const auto is_letter = [&](std::size_t i) {
    return i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) != 0;
  };
  std::vector<LinkWord> words;
  std::size_t last = 0; // end of the word before
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    if (is_digit(at)) {
      while (is_digit(end)) ++end;
      if (end < text.size() && text[end] == '.' && is_digit(end + 1) && !is_digit(end + 2))
        end += 2;
    } else {
      while (is_letter(end)) ++end;
    }
    if (end == at) {
      ++at;
      continue;
    }
    const std::string_view gap = text.substr(last, at - last);
    words.push_back({lower_case(text.substr(at, end - at)), is_digit(at), at > 0 && gap.empty(),
                     gap.find_first_not_of(" \t\r\n-_(") == std::string_view::npos});
    at = last = end;
  }
  return words;
}

/// The lanes that words like "PCIe 3.0 x8" or "Gen4x8" state; 0: they state none, or several
/// numbers.
int stated_lanes(const std::vector<LinkWord>& words) {
  constexpr std::array<std::string_view, 4> before_generations{"e", "express", "gen", "pcie"};
  const auto is_generation = [&](std::size_t i) {
    return i > 0 && words[i].is_number && words[i].is_related &&
           std::ranges::find(before_generations, words[i - 1].text) != before_generations.end();
  };
  int found = 0;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i].text != "x" || !words[i + 1].is_joined) continue;
    if (words[i].is_joined && !is_generation(i - 1)) continue;
    if (i + 2 < words.size() && words[i + 2].is_joined) continue;
    for (const int lanes : {1, 2, 4, 8, 16, 32}) {
      if (words[i + 1].text != std::to_string(lanes)) continue;
      if (found != 0 && found != lanes) return 0;
      found = lanes;
    }
  }
  return found;
}

/// What words[i] is as a generation, "3" or "3.0", and no number of something ("5 GT/s", "4
/// lanes"). 0: it is none.
int generation_at(const std::vector<LinkWord>& words, std::size_t i) {
  if (i >= words.size() || !words[i].is_number || !words[i].is_related) return 0;
  const std::string& text = words[i].text;
  if (text.size() != 1 && text.substr(1) != ".0" && text.substr(1) != ".1") return 0;
  if (i + 1 < words.size()) {
    const LinkWord& next = words[i + 1];
    const auto begins = [&](std::string_view unit) { return next.text.starts_with(unit); };
    const bool is_lanes = next.text == "x" && i + 2 < words.size() && words[i + 2].is_joined;
    if (next.is_joined && !is_lanes) return 0;
    if (next.is_related && (begins("gt") || begins("gb") || begins("gig") || begins("lane") ||
                            begins("link") || begins("port")))
      return 0;
  }
  return text.front() - '0';
}

/// After the name that ends before words[i], "3.0", "gen 3" or "v3"; else before the one that
/// begins at words[begin], "gen 3" or "3rd gen". 0: none.
int generation_beside(const std::vector<LinkWord>& words, std::size_t begin, std::size_t i) {
  const auto is_gen = [&](std::size_t w) {
    return words[w].text == "gen" || words[w].text == "generation";
  };
  std::size_t after = i;
  if (after < words.size() && words[after].is_related &&
      (is_gen(after) || words[after].text == "v" || words[after].text == "version"))
    ++after;
  if (const int found = generation_at(words, after); found > 0) return found;
  if (begin < 2 || !words[begin].is_related) return 0;
  if (is_gen(begin - 2) && words[begin - 1].is_number && words[begin - 1].text.size() == 1 &&
      words[begin - 1].is_related)
    return words[begin - 1].text.front() - '0';
  constexpr std::array<std::string_view, 4> ordinals{"st", "nd", "rd", "th"};
  if (begin >= 3 && is_gen(begin - 1) && words[begin - 1].is_related &&
      std::ranges::find(ordinals, words[begin - 2].text) != ordinals.end() &&
      words[begin - 2].is_joined && words[begin - 3].is_number && words[begin - 3].text.size() == 1)
    return words[begin - 3].text.front() - '0';
  return 0;
}

std::optional<LinkGeneration> named_generation(const std::vector<LinkWord>& words) {
  constexpr int last_nvlink = 5, last_pcie = 6; // that are known
  std::optional<LinkGeneration> found;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    const auto next_is = [&](std::string_view word) {
      return i + 1 < words.size() && words[i + 1].is_related && words[i + 1].text == word;
    };
    const bool is_nvlink = text == "nvlink" || text == "nvlinks";
    const bool is_two_words = text == "pci" && (next_is("express") || next_is("e"));
    if (!is_nvlink && !is_two_words && text != "pcie" && text != "pciexpress") continue;
    const int number = generation_beside(words, i, i + (is_two_words ? 2 : 1));
    if (number == 0) continue;
    if (number > (is_nvlink ? last_nvlink : last_pcie)) return {};
    if (found && (found->is_nvlink != is_nvlink || found->number != number)) return {};
    found = {is_nvlink, number, 0};
  }
  if (found && !found->is_nvlink) found->lanes = stated_lanes(words);
  return found;
}

void set_infra_rate(InfraLink& link, const TreeValue& value, const std::vector<LinkWord>& words) {
  const auto [unit, given] =
      infra_quantity(value, {{"gigabits_per_second", "giga_bits_per_second"},
                             {"gigabytes_per_second", "giga_bytes_per_second"},
                             {"gigatransfers_per_second", "giga_transfers_per_second"}});
  if (!given) return;
  long double rate = infra_amount(*given);
  if (rate <= 0 || rate > 1e9L)
    throw given->error(
        fmt::format("{} is out of range (more than 0, at most 1e9)", short_quote(given->text())));
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

void set_infra_latency(InfraLink& link, const TreeValue& value) {
  const auto [unit, given] = infra_quantity(value, {{"ms", "ms"}, {"us", "us"}, {"ns", "ns"}});
  if (!given) return;
  const long double ps = infra_amount(*given) * (unit == "ms" ? 1e9L : unit == "us" ? 1e6L : 1e3L);
  if (ps > 1e18L) throw given->error(fmt::format("{} is too long", short_quote(given->text())));
  link.latency = Time{static_cast<std::int64_t>(std::llround(ps))};
  if (link.latency->ps == 0 && ps > 0) throw given->error("less than a picosecond");
}

} // namespace

InfraLink parse_infra_link(const TreeValue& value) {
  value.allow_only({"name", "description", "type", "physical", "bandwidth", "latency"});
  InfraLink read;
  read.name = infra_name(value);
  std::string text = read.name;
  for (const char* key : {"type", "description"})
    if (const auto words = value.given(key)) text += "; " + words->text();
  const std::vector<LinkWord> words = link_words(text);
  auto rate = value.given("bandwidth"), latency = value.given("latency");
  if (const auto physical = value.given("physical")) {
    physical->allow_only({"bandwidth", "latency"});
    for (auto [outside, key] : {std::pair{&rate, "bandwidth"}, std::pair{&latency, "latency"}})
      if (const auto inside = physical->given(key)) {
        if (*outside) throw inside->error(fmt::format("the {} stands twice", key));
        *outside = inside;
      }
  }
  if (rate) set_infra_rate(read, *rate, words);
  if (!read.rate) read.generation = named_generation(words);
  if (latency) set_infra_latency(read, *latency);
  return read;
}

} // namespace tutti::topologies
