#include "gpu/text.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace tutti::gpu {

namespace {

struct Multiple {
  double factor;
  std::string_view prefix;
};
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

std::string command_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + quoted(word);
  return text;
}

} // namespace tutti::gpu
