// A straight line through OKLCh (Ottosson 2020), a space in which equal steps look equal: lightness
// falls all the way, so that order is never shown by hue alone, while hue goes from yellow over red
// to violet. It begins dark enough to be seen on white.
#include "experiments/driver/figures/colour_scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace tutti {

namespace {

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

double luminance(int colour) {
  const auto linear = [&](int shift) {
    const double coded = ((colour >> shift) & 0xff) / 255.0;
    return coded <= 0.04045 ? coded / 12.92 : std::pow((coded + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0);
}

} // namespace tutti
