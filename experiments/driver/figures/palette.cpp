// Eight colours near those of Okabe and Ito, "Color Universal Design" (2008), moved until any two
// are at least 20 apart in CIELAB under each of the three dichromacies; Tableau's ten, which were
// here before, have a green and a red that are one colour to a deuteranope. What compares more gets
// each hue again halfway to white, then 40 % darker. Text on a colour is black or white by its
// luma.
#include "experiments/driver/figures/palette.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

namespace tutti {

namespace {

struct Rgb {
  std::array<int, 3> part; ///< red, green, blue: 0 to 255
};

Rgb parsed_colour(std::string_view colour) {
  Rgb rgb{};
  for (std::size_t i = 0; i < 3; ++i)
    rgb.part[i] = std::stoi(std::string(colour.substr(1 + 2 * i, 2)), nullptr, 16);
  return rgb;
}

} // namespace

std::string_view series_colour(std::size_t i) {
  constexpr std::array<std::string_view, palette_size> colours{
      "#265fa3", "#ee8a1a", "#0e956c", "#b62c3a", "#8e6ce5", "#49b7ef", "#37373d", "#d271ac"};
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

std::string choice_colour(std::size_t i) {
  Rgb rgb = parsed_colour(series_colour(i));
  for (int& part : rgb.part) {
    if (i / palette_size % 3 == 1) part += (255 - part) / 2;
    if (i / palette_size % 3 == 2) part -= part * 2 / 5;
  }
  return fmt::format("#{:02x}{:02x}{:02x}", rgb.part[0], rgb.part[1], rgb.part[2]);
}

std::string text_colour_on(const std::string& colour) {
  const Rgb rgb = parsed_colour(colour);
  // Luma by the weights of ITU-R BT.601: 0.299 red, 0.587 green, 0.114 blue, times a thousand.
  const int thousand_times = 299 * rgb.part[0] + 587 * rgb.part[1] + 114 * rgb.part[2];
  return thousand_times > 140'000 ? "#111111" : "#ffffff";
}

std::string_view dash_pattern(std::size_t i) {
  constexpr std::array<std::string_view, 5> patterns{"dashtype solid", "dashtype (8,4)",
                                                     "dashtype (2,3)", "dashtype (12,3,2,3)",
                                                     "dashtype (5,2,5,6)"};
  return patterns[i % patterns.size()];
}

int point_mark(std::size_t colour, std::size_t dash) {
  constexpr std::array filled{7, 5, 9, 13, 11, 15}, hollow{6, 4, 8, 12, 10, 14};
  return (dash % 2 == 0 ? filled : hollow)[colour % filled.size()];
}

std::string_view heat_palette() {
  return "set palette defined (0 '#fbdf9d', 0.3 '#f5953f', 0.6 '#c5404d', 1 '#3a0f6b')\n";
}

} // namespace tutti
