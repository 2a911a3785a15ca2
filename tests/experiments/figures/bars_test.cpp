// What bar charts say.
#include "experiments/driver/figures/bars.hpp"

#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"

#include <cmath>
#include <limits>

namespace bars_test {

using namespace tutti;
using svg_reading::faults_of;
using svg_reading::read;
using svg_reading::Svg;

namespace {

constexpr const char* colour_of_ring = "#ee8a1a";
constexpr double none = std::numeric_limits<double>::quiet_NaN();

BarChart two_networks() {
  return {.heading = "All-Reduce 1 GB",
          .y_label = "algorithm bandwidth [GB/s]",
          .series = {"ring", "tacos"},
          .groups = {{"ring:64", {50.84, none}}, {"mesh2d:8x8", {25.3, 1595.4}}}};
}

} // namespace

TEST_CASE("A bar chart has every value as text with three digits") {
  const Svg svg = read(bar_figure(two_networks()));
  for (const char* text : {"50.8", "n/a", "25.3", "1595", "ring:64", "mesh2d:8x8", "ring", "tacos",
                           "algorithm bandwidth [GB/s]"})
    CHECK(svg.has(text));
  CHECK(faults_of(svg).empty());
}

TEST_CASE("Bars start at zero, or on a logarithmic axis at a power of ten") {
  // Bars of ring are the first two rectangles of its colour, before the legend's.
  BarChart chart = two_networks();
  chart.groups[1].values[1] = 100;
  const auto height = [](const Svg& svg, std::size_t bar) {
    const auto corners = svg.lines_of(colour_of_ring).at(bar);
    return corners.at(2).y - corners.at(0).y;
  };
  const Svg linear = read(bar_figure(chart));
  CHECK(height(linear, 0) / height(linear, 1) == Approx(50.84 / 25.3).epsilon(0.01));
  chart.logarithmic = true;
  const Svg logarithmic = read(bar_figure(chart));
  CHECK(height(logarithmic, 0) / height(logarithmic, 1) ==
        Approx(std::log(5.084) / std::log(2.53)).epsilon(0.01));
  for (const char* text : {"10", "100"}) CHECK(logarithmic.has(text));
}

TEST_CASE("What a paper prints is a mark at its height, within the axis") {
  BarChart chart = two_networks();
  CHECK_FALSE(read(bar_figure(chart)).has("paper"));
  chart.groups[0].printed = {2000, none};
  const Figure figure = bar_figure(chart);
  const Svg svg = read(figure);
  CHECK(svg.has("paper"));
  CHECK(faults_of(svg).empty());
  CHECK(figure.data.back() == std::vector<std::string>{"ring, paper", "ring:64", "2000"});
}

TEST_CASE("Values of many bars stand upright, those of few lie") {
  BarChart chart = two_networks();
  CHECK(read(bar_figure(chart)).text("25.3").degrees == 0);
  while (chart.groups.size() < 15) chart.groups.push_back({"ring:8", {1, 2}});
  const Svg svg = read(bar_figure(chart));
  CHECK(svg.text("25.3").degrees == 90);
  CHECK(faults_of(svg) == std::vector<std::string>{});
}

TEST_CASE("A chart of nothing is refused") {
  BarChart bars = two_networks();
  for (BarGroup& group : bars.groups) group.values = {none, none};
  CHECK_THROWS_WITH(bar_figure(bars), "a bar chart needs at least one value");
  CHECK_THROWS_WITH(bar_figure(BarChart{}), "a bar chart needs at least one value");
}

} // namespace bars_test
