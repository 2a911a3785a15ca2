// What charts of curves say.
#include "experiments/driver/figures/curves.hpp"

#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace curves_test {

using namespace tutti;
using svg_reading::read;
using svg_reading::Svg;

namespace {

using Texts = std::vector<std::string>;

/// Texts that stand in one row with this one, from left to right as they are painted.
Texts row_of(const Svg& svg, const std::string& text) {
  Texts row;
  for (const svg_reading::SvgText& each : svg.texts)
    if (each.top == svg.text(text).top) row.push_back(each.text);
  return row;
}

} // namespace

TEST_CASE("The axis of sizes is marked at powers of two") {
  const CurveChart chart{
      .heading = "sweep",
      .axis = CurveAxis::bytes,
      .x_label = "collective size",
      .y_label = "algorithm bandwidth [GB/s]",
      .curves = {{"ring", {{1024, 0.5}, {1 << 20, 10.0}}}, {"tacos", {{1 << 20, 20.0}}}},
      .growth_in = ""};
  const Svg svg = read(curve_figure(chart));
  // Ten powers in at most nine steps: every second.
  CHECK(row_of(svg, "1 KiB") == Texts{"1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"});
  for (const char* text : {"0", "5", "10", "15", "20", "ring", "tacos", "collective size"})
    CHECK(svg.has(text));
  // From 1 KiB up to 1 MiB, and up by 9.5 of the 21.2 that the axis has.
  const auto lines = svg.lines_of("#265fa3"); // the first
  const auto found = std::ranges::find_if(lines, [](const std::vector<Position>& line) {
    return line.size() == 2 && line[1].x > line[0].x + 100;
  });
  REQUIRE(found != lines.end());
  const std::vector<Position>& ring = *found;
  CHECK(ring[0].y - ring[1].y == Approx(270 * 9.5 / 21.2).margin(0.02));
}

TEST_CASE("Counts are marked at powers of two, without a unit") {
  const CurveChart chart{.heading = "chunks",
                         .axis = CurveAxis::powers,
                         .x_label = "chunks per shard",
                         .y_label = "time / that of tacos",
                         .curves = {{"ring", {{1, 2.2}, {4, 2.0}}}},
                         .growth_in = ""};
  const auto marks = [](const CurveChart& of, const std::string& first) {
    return row_of(read(curve_figure(of)), first);
  };
  CHECK(marks(chart, "4") == Texts{"1", "2", "4"});
  CurveChart others = chart;
  others.curves[0].points = {{1, 2.2}, {3, 2.0}, {9, 1.9}};
  CHECK(marks(others, "9") == Texts{"1", "3", "9"});
  others.axis = CurveAxis::tens;
  others.curves[0].points = {{512, 2.2}, {1024, 2.0}};
  CHECK(marks(others, "512") == Texts{"512", "1024"});
  others.curves[0].points = {{512, 2.2}, {513, 2.2}, {1024, 2.0}}; // no room for all
  CHECK(marks(others, "500") == Texts{"500", "1000"});
}

TEST_CASE("Growth: both axes logarithmic, the law as a line and in the legend") {
  const CurveChart chart{
      .heading = {"growth", "on paper"},
      .axis = CurveAxis::tens,
      .x_label = "NPUs",
      .y_label = "synthesis time [CPU s]",
      .curves = {{"tacos", {{10, 0.02}, {100, 2}, {1000, 200}}}, {"ring", {{10, 1}}}},
      .growth_in = "N"};
  const Svg svg = read(curve_figure(chart));
  for (const char* words : {"tacos: N^2.00", "ring", "on paper", "100", "0.1"})
    CHECK(svg.has(words)); // ring: one point has no law
  // Both axes are logarithmic: the law is straight through the points.
  const auto lines = svg.lines_of("#265fa3");
  const auto law = std::ranges::find_if(lines, [](const std::vector<Position>& line) {
    return line.size() == 2 && line[1].y < line[0].y - 50;
  });
  CHECK(law != lines.end());
}

TEST_CASE("A chart of no point is refused") {
  CurveChart chart;
  chart.curves = {{"ring", {}}};
  CHECK_THROWS_WITH(curve_figure(chart), "a chart of curves needs at least one point");
}

} // namespace curves_test
