// Times and rates in the largest multiple of a thousand that isn't more than the value, with four
// significant digits; sizes in multiples of 1024 as long as they are whole.

#include "gpu/text.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <system_error>

namespace tutti::gpu {

namespace {

struct Multiple {
  double factor;
  std::string_view prefix;
};
struct TimeUnit {
  std::string_view name;
  double milliseconds;
};
constexpr std::array time_units{TimeUnit{"ps", 1e-9}, TimeUnit{"ns", 1e-6}, TimeUnit{"us", 1e-3},
                                TimeUnit{"ms", 1}, TimeUnit{"s", 1e3}};

constexpr std::array below_one{Multiple{1e-9, "n"}, Multiple{1e-6, "u"}, Multiple{1e-3, "m"},
                               Multiple{1, ""}};
constexpr std::array above_one{Multiple{1, ""}, Multiple{1e3, "k"}, Multiple{1e6, "M"},
                               Multiple{1e9, "G"}, Multiple{1e12, "T"}};

std::string number_text(double value) {
  char text[32];
  (void)std::snprintf(text, sizeof text, std::abs(value) < 1e6 ? "%.4g" : "%.10g", value);
  return text;
}

/// In the largest multiple that isn't more than the value.
template <typename Multiples>
std::string in_multiples(double value, const Multiples& multiples, std::string_view unit) {
  Multiple best = multiples.front();
  for (const Multiple& multiple : multiples)
    if (std::abs(value) >= multiple.factor) best = multiple;
  return number_text(value / best.factor) + " " + std::string(best.prefix) + std::string(unit);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\n\r"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t\n\r") + 1);
}

std::string quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

} // namespace

std::string seconds_text(double seconds) { return in_multiples(seconds, below_one, "s"); }

std::string size_text(std::int64_t bytes) {
  constexpr std::array<std::string_view, 4> units{" B", " KiB", " MiB", " GiB"};
  std::size_t unit = 0;
  for (; unit + 1 < units.size() && bytes != 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return std::to_string(bytes) + std::string(units[unit]);
}

std::string percent_text(double ratio) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.1f %%", ratio * 100);
  return text;
}

std::string clock_text(double seconds) {
  const auto whole = std::llround(seconds);
  char text[32];
  (void)std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  return text;
}

std::string figure_text(double value, std::string_view unit) {
  if (unit == "s") return seconds_text(value);
  if (unit == "bytes/s") return in_multiples(value, above_one, "B/s");
  if (unit == "bytes") return in_multiples(value, above_one, "B");
  return number_text(value) + (unit.empty() ? "" : " " + std::string(unit));
}

std::chrono::milliseconds parse_duration(std::string_view text, const std::string& what) {
  const auto fail = [&](const std::string& why) {
    throw InputError(what + ": \"" + std::string(text) + "\" " + why);
  };
  const std::string_view body = trimmed(text);
  double number = 0;
  const char* end = body.data() + body.size();
  const auto [stop, error] = std::from_chars(body.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number)) fail("is not a number with a unit");
  const std::string_view unit = trimmed({stop, end});
  std::vector<std::string> known;
  for (const TimeUnit& each : time_units) {
    known.emplace_back(each.name);
    if (each.name != unit) continue;
    constexpr double rounded = 1 - 1e-12; // 1.001 s are 1001 ms and a rounding error
    const double milliseconds = std::ceil(number * each.milliseconds * rounded);
    constexpr double most = 24 * 3600 * 1e3;
    if (milliseconds <= 0) fail("is no time");
    if (milliseconds > most) fail("is more than a day");
    return std::chrono::milliseconds(static_cast<std::int64_t>(milliseconds));
  }
  if (unit.empty()) fail("has no unit (known: ps, ns, us, ms, s)");
  throw InputError(what + ": \"" + std::string(text) + "\" has an " +
                   unknown_name("unit", unit, known));
}

std::string command_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + quoted(word);
  return text;
}

} // namespace tutti::gpu
