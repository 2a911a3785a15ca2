// Widths of texts are those of one font, from a table: a picture is the same on a machine without
// it, and its texts find room whatever font stands for it there.
#include "experiments/driver/figures/style.hpp"

#include "experiments/driver/records/printable.hpp"
#include "experiments/driver/records/table.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tutti {

namespace {

// "2000", "5 M", where "{:g}" would have written 5e+06.
std::string plain_number(double value) {
  if (value >= 1e12) return fmt::format("{:g}", value);
  if (value >= 0.999e9) return fmt::format("{:g} G", value / 1e9);
  if (value >= 0.999e6) return fmt::format("{:g} M", value / 1e6);
  return fmt::format("{:g}", value);
}

} // namespace

std::string one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace(line, '\n', ' ');
  std::ranges::replace(line, '\r', ' ');
  return printable(line);
}

// By the advance widths of DejaVu Sans, the widest of the fonts that stand for sans-serif, rounded
// up to six classes; what isn't ASCII by its columns in a terminal.
double text_width(std::string_view text, double font) {
  constexpr std::string_view narrow = "ijl|.,:;'! ", slim = "frtIJ()[]/\\-\"`",
                             slender = "csxyzkv_?*^", broad = "DGHNOQUw+=<>#~", broadest = "mMW%@&";
  const auto is_one_of = [](std::string_view letters, char letter) {
    return letters.find(letter) != std::string_view::npos;
  };
  double width = 0.72 * static_cast<double>(display_width(text));
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (code < 0x20 || code > 0x7e) continue;
    const double own = is_one_of(narrow, letter)        ? 0.34
                       : is_one_of(slim, letter)        ? 0.42
                       : is_one_of(slender, letter)     ? 0.6
                       : is_one_of(broad, letter)       ? 0.84
                       : is_one_of(broadest, letter)    ? 1.0
                       : letter >= 'A' && letter <= 'Z' ? 0.7
                                                        : 0.64;
    width += own - 0.72;
  }
  return width * font;
}

// width = besides + texts * width / page. What would take most of a page is cut off at the edge.
int figure_width(double besides, double texts, int page) {
  const double share = std::min(texts / page, 0.7);
  return std::max(page, static_cast<int>(std::ceil(besides / (1 - share))));
}

double text_scale(int width, int page) { return std::max(1.0, width / static_cast<double>(page)); }

std::vector<std::string> unbroken_words(std::string_view text) {
  constexpr std::array<std::string_view, 18> units{"ps",  "ns",  "us",   "ms",   "s",   "B",
                                                   "kB",  "MB",  "GB",   "TB",   "KiB", "MiB",
                                                   "GiB", "TiB", "GB/s", "TB/s", "%",   "x"};
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ' ')) {
    const std::string_view unit = word.substr(0, word.find_first_of(",;:.)"));
    const bool is_unit = std::ranges::find(units, unit) != units.end();
    if (is_unit && !words.empty() && !words.back().empty() && words.back().front() >= '0' &&
        words.back().front() <= '9')
      words.back() += ' ' + std::string(word);
    else
      words.emplace_back(word);
  }
  return words;
}

std::vector<AxisTic> decade_tics(double low, double high) {
  const double decades = std::log10(high / low);
  const int step = decades > 12 ? 3 : decades > 7 ? 2 : 1;
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  std::vector<AxisTic> tics;
  for (const bool all : {false, true}) {
    tics.clear();
    for (int e = first; e <= last; e += step)
      for (const int digit : {1, 2, 5}) {
        const double value = digit * std::pow(10.0, e);
        if ((digit == 1 || all) && value >= 0.999 * low && value <= 1.001 * high)
          tics.push_back({value, plain_number(value)});
      }
    if (tics.size() >= 3) break;
  }
  return tics;
}

std::vector<AxisTic> even_tics(double low, double high, std::size_t most) {
  const double finest = (high - low) / static_cast<double>(most);
  const double decade = std::pow(10.0, std::floor(std::log10(finest)));
  double step = 10 * decade;
  for (const double digit : {5.0, 2.0, 1.0})
    if (digit * decade >= 0.999 * finest) step = digit * decade;
  const double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
  std::vector<AxisTic> tics;
  if (!(last - first <= 10 * static_cast<double>(most))) return tics; // too near to tell apart
  for (int i = 0; i <= static_cast<int>(last - first); ++i)
    tics.push_back({(first + i) * step, plain_number((first + i) * step + 0.0)});
  return tics;
}

TimeUnit time_unit(double largest_ps) {
  if (largest_ps >= 1e13) return {1e12, "s"};
  if (largest_ps >= 1e8) return {1e9, "ms"};
  if (largest_ps >= 1e5) return {1e6, "us"};
  return {1e3, "ns"};
}

std::string three_digits(double value) {
  // 0.9996 is 1.00, not 1.000.
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

} // namespace tutti
