// Ten hues tell apart ten choices; a study that compares more gets each hue again halfway to white,
// then 40 % darker. Text on a colour is black or white by the colour's luma.
#include "experiments/driver/figures/choice_colours.hpp"

#include "experiments/driver/figures/style.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

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

std::string choice_colour(std::size_t i) {
  constexpr std::size_t hues = 10;
  Rgb rgb = parsed_colour(series_colour(i % hues));
  for (int& part : rgb.part) {
    if (i / hues % 3 == 1) part += (255 - part) / 2;
    if (i / hues % 3 == 2) part -= part * 2 / 5;
  }
  return fmt::format("#{:02x}{:02x}{:02x}", rgb.part[0], rgb.part[1], rgb.part[2]);
}

std::string text_colour_on(const std::string& colour) {
  const Rgb rgb = parsed_colour(colour);
  // Luma by the weights of ITU-R BT.601: 0.299 red, 0.587 green, 0.114 blue, times a thousand.
  const int thousand_times = 299 * rgb.part[0] + 587 * rgb.part[1] + 114 * rgb.part[2];
  return thousand_times > 140'000 ? "#111111" : "#ffffff";
}

} // namespace tutti
