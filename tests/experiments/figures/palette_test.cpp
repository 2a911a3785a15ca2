// Whether colours can be told apart by who has all cones, and by who lacks one kind: they are seen
// through the matrices of Machado, Oliveira and Fernandes 2009, "A Physiologically-based Model for
// Simulation of Color Vision Deficiency", table of severity 1.0, and compared in CIELAB (CIE 1976,
// white of D65), where a distance of 2 is just seen side by side, and 20 across a page.
#include "experiments/driver/figures/palette.hpp"

#include "experiments/driver/figures/chart.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace palette_test {

using namespace tutti;

namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

struct Eye {
  const char* name;
  Matrix sees; ///< on linear RGB
};

constexpr std::array<Eye, 4> eyes{{{"trichromat", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
                                   {"protanope",
                                    {{{0.152286, 1.052583, -0.204868},
                                      {0.114503, 0.786281, 0.099216},
                                      {-0.003882, -0.048116, 1.051998}}}},
                                   {"deuteranope",
                                    {{{0.367322, 0.860646, -0.227968},
                                      {0.280085, 0.672501, 0.047413},
                                      {-0.011820, 0.042940, 0.968881}}}},
                                   {"tritanope",
                                    {{{1.255528, -0.076749, -0.178779},
                                      {-0.078411, 0.930809, 0.147602},
                                      {0.004733, 0.691367, 0.303900}}}}}};

Triple product(const Matrix& matrix, const Triple& v) {
  Triple result{};
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c) result[r] += matrix[r][c] * v[c];
  return result;
}

/// A colour without the display's gamma, 0 to 1 (IEC 61966-2-1).
Triple linear(int colour) {
  Triple rgb{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double part = ((colour >> (16 - 8 * i)) & 0xff) / 255.0;
    rgb[i] = part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
  }
  return rgb;
}

Triple lab(Triple rgb) {
  for (double& part : rgb) part = std::min(std::max(part, 0.0), 1.0);
  constexpr Matrix to_xyz{{{0.4124564, 0.3575761, 0.1804375},
                           {0.2126729, 0.7151522, 0.0721750},
                           {0.0193339, 0.1191920, 0.9503041}}};
  Triple f = product(to_xyz, rgb);
  constexpr Triple white{0.95047, 1, 1.08883};
  for (std::size_t i = 0; i < 3; ++i) {
    const double t = f[i] / white[i];
    f[i] = t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
  }
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

Triple seen(const Eye& eye, int colour) { return lab(product(eye.sees, linear(colour))); }

double distance(const Triple& a, const Triple& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// The least distance of any two of these under any eye.
double least_distance(const std::vector<int>& colours) {
  double least = 1e9;
  for (const Eye& eye : eyes)
    for (std::size_t i = 0; i < colours.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        least = std::min(least, distance(seen(eye, colours[i]), seen(eye, colours[j])));
  return least;
}

} // namespace

TEST_CASE("the colours of series are told apart by all eyes") {
  std::vector<int> colours;
  for (std::size_t i = 0; i < palette_size; ++i) colours.push_back(series_colour(i));
  CHECK(least_distance(colours) > 20);
  CHECK(series_colour(palette_size) == series_colour(0));
}

TEST_CASE("this measure knows colours that some can't tell apart") {
  CHECK(least_distance({0x59a14f, 0xe15759}) < 20); // a green and a red
  CHECK(least_distance({0x000000, 0xffffff}) > 99); // 100 of lightness, whatever the eye
  CHECK(least_distance({0x265fa3, 0x265fa3}) == 0);
}

TEST_CASE("each colour stands out from white paper") {
  for (const Eye& eye : eyes)
    for (std::size_t i = 0; i < palette_size; ++i) {
      CAPTURE(eye.name, series_colour(i));
      CHECK(distance(seen(eye, series_colour(i)), seen(eye, 0xffffff)) > 38);
    }
}

TEST_CASE("tints go on where colours end, all different") {
  std::vector<int> tints;
  for (std::size_t i = 0; i < 3 * palette_size; ++i) tints.push_back(choice_colour(i));
  for (std::size_t i = 0; i < tints.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(tints[i] != tints[j]);
  CHECK(choice_colour(3 * palette_size) == tints[0]);
}

TEST_CASE("what shares a colour has another dash or mark") {
  for (std::size_t hue = 0; hue < palette_size; ++hue)
    for (std::size_t dash = 0; dash < 4; ++dash) {
      CHECK(dash_pattern(dash) != dash_pattern(dash + 1));
      CHECK(point_mark(hue, dash) != point_mark(hue, dash + 1));
    }
}

TEST_CASE("amounts darken all the way, for all eyes and for print without colours") {
  constexpr int steps = 12;
  for (const Eye& eye : eyes)
    for (int i = 1; i <= steps; ++i) {
      CAPTURE(eye.name, i);
      const auto lightness = [&](int step) {
        return seen(eye, amount_colour(static_cast<double>(step) / steps))[0];
      };
      CHECK(lightness(i) < lightness(i - 1) - 2);
    }
  CHECK(seen(eyes[0], amount_colour(0))[0] < 90); // to be seen on white
}

TEST_CASE("an algorithm has one colour in all figures, and no other has it there") {
  using Names = std::vector<std::string>;
  const auto hues = [](const Names& names) { return series_hues(names); };
  CHECK(hues({"ring", "direct", "tacos"})[2] == hues({"tacos"})[0]);
  CHECK(hues({"blink", "ring, 4 chunks"})[1] == hues({"ring"})[0]);
  CHECK(hues({"blink", "ring (2.00x)"})[1] == hues({"ring"})[0]);
  Names names{"multitree", "tacos", "tacos, 2 chunks",
              "ring",      "blink", "themis",
              "ccube",     "dbt",   "rhd",
              "sccl",      "x",     "y"};
  const std::vector<std::size_t> all = hues(names);
  CHECK(std::set<std::size_t>(all.begin(), all.end()).size() == names.size());
  CHECK(*std::ranges::max_element(all) == names.size() - 1); // none is skipped
}

} // namespace palette_test
