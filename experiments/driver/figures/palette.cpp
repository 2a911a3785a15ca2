// Eight colours near those of Okabe and Ito, "Color Universal Design" (2008), moved until any two
// are at least 20 apart in CIELAB under each of the three dichromacies; Tableau's ten, which were
// here before, have a green and a red that are one colour to a deuteranope. What compares more gets
// each hue again halfway to white, then 40 % darker. Text on a colour is black or white by its
// luma. Amounts run along a straight line through OKLCh (Ottosson 2020), a space in which equal
// steps look equal: lightness falls all the way, so that order is never shown by hue alone, while
// hue goes from yellow over red to violet. It begins dark enough to be seen on white.
#include "experiments/driver/figures/palette.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <set>

namespace tutti {

namespace {

/// Each of red, green and blue changed.
template <typename Change> int with_parts(int colour, Change change) {
  int result = 0;
  for (const int shift : {16, 8, 0}) result |= change((colour >> shift) & 0xff) << shift;
  return result;
}

int gamma_coded(double linear) { // 0 .. 255, sRGB
  const double light = std::clamp(linear, 0.0, 1.0);
  const double coded =
      light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
  return static_cast<int>(std::lround(255 * coded));
}

int from_oklch(double lightness, double chroma, double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  const double a = chroma * std::cos(angle), b = chroma * std::sin(angle);
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return gamma_coded(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s) << 16 |
         gamma_coded(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s) << 8 |
         gamma_coded(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
}

} // namespace

int series_colour(std::size_t i) {
  constexpr std::array colours{0x265fa3, 0xee8a1a, 0x0e956c, 0xb62c3a,
                               0x8e6ce5, 0x49b7ef, 0x37373d, 0xd271ac};
  static_assert(colours.size() == palette_size);
  return colours[i % colours.size()];
}

std::vector<std::size_t> series_hues(std::span<const std::string> names) {
  constexpr std::array<std::string_view, palette_size> algorithms{
      "tacos", "ring", "direct", "flows", "teccl", "sccl", "rhd", "dbt"};
  constexpr std::size_t none = SIZE_MAX;
  std::vector<std::size_t> hues(names.size(), none);
  std::set<std::size_t> taken;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string_view name = std::string_view(names[i]).substr(0, names[i].find_first_of(",("));
    while (name.ends_with(' ')) name.remove_suffix(1);
    const auto own =
        static_cast<std::size_t>(std::ranges::find(algorithms, name) - algorithms.begin());
    if (own < algorithms.size() && taken.insert(own).second) hues[i] = own;
  }
  std::size_t next = 0;
  for (std::size_t& hue : hues) {
    if (hue != none) continue;
    while (!taken.insert(next).second) ++next;
    hue = next;
  }
  return hues;
}

int choice_colour(std::size_t i) {
  const int colour = series_colour(i);
  switch (i / palette_size % 3) {
  case 1: return paler(colour, 0.5);
  case 2: return with_parts(colour, [](int part) { return part - part * 2 / 5; });
  default: return colour;
  }
}

int text_colour_on(int colour) {
  // Luma by the weights of ITU-R BT.601: 0.299 red, 0.587 green, 0.114 blue, times a thousand.
  const int thousand_times =
      299 * (colour >> 16) + 587 * ((colour >> 8) & 0xff) + 114 * (colour & 0xff);
  return thousand_times > 140'000 ? 0x111111 : 0xffffff;
}

int paler(int colour, double share) {
  return with_parts(colour,
                    [share](int part) { return part + static_cast<int>(share * (255 - part)); });
}

std::string_view dash_pattern(std::size_t i) {
  constexpr std::array<std::string_view, 5> patterns{"", "8 4", "2 3", "12 3 2 3", "5 2 5 6"};
  return patterns[i % patterns.size()];
}

int amount_colour(double share) {
  const double t = std::clamp(share, 0.0, 1.0);
  const double chroma = 0.115 + 0.09 * std::sin(std::numbers::pi * t);
  return from_oklch(0.87 - 0.60 * t, chroma, 92 - 152 * t);
}

int kind_colour(std::size_t i) {
  constexpr std::array colours{0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                               0xe69f00, 0x56b4e9, 0x555555};
  return colours[i % colours.size()];
}

} // namespace tutti
