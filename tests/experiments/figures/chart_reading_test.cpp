// Every kind of picture is XML whatever its texts hold, shows them, and can be read in print; names
// beside curves don't run into each other.
#include "experiments/driver/figures/bars.hpp"
#include "experiments/driver/figures/chart.hpp"
#include "experiments/driver/figures/choice_map.hpp"
#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/figures/heatmap.hpp"
#include "experiments/driver/figures/schedule_drawing.hpp"
#include "experiments/driver/figures/stacked_bars.hpp"
#include "experiments/driver/records/printable.hpp"
#include "sim/engines/engine.hpp"
#include "sim/random.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"
#include "tests/samples.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace chart_reading_test {

using namespace tutti;
using svg_reading::faults_of;
using svg_reading::read;
using svg_reading::Svg;
using svg_reading::SvgText;

namespace {

struct NamedFigureOf {
  std::string kind;
  Figure figure;
};

LinkMap map_named(const std::string& text, std::uint32_t nodes) {
  LinkMap map{.title = text,
              .nodes = nodes,
              .npus = nodes - 1,
              .others = {text},
              .npu_names = {},
              .cells = {},
              .links = {0.25, 1}};
  map.cells.assign(std::size_t{nodes} * nodes, std::numeric_limits<double>::quiet_NaN());
  map.cells[1] = 0.25;
  map.cells[nodes] = 1;
  return map;
}

/// A broadcast over one link between nodes of this name.
Figure schedule_of(const std::string& text) {
  TopologyParts parts = samples::npus("net", 0);
  for (const char* which : {"0", "1"}) parts.add_node({text + which, NodeKind::npu, {}, {}});
  parts.add_duplex(samples::link(0, 1));
  const Topology topology(std::move(parts));
  CollectiveSpec spec;
  spec.kind = CollectiveKind::broadcast;
  spec.size = Bytes{1000};
  const Collective collective = make_collective(topology, spec);
  Schedule schedule(topology.link_count());
  schedule.push(ChunkId{0}, LinkId{0}, Op::copy);
  RunOptions options;
  options.record_deliveries = options.record_hops = true;
  return schedule_figure({text, text}, topology, collective, schedule,
                         run_native(topology, collective, schedule, {}, options));
}

/// One of each kind, with the text wherever one can stand.
std::vector<NamedFigureOf> all_kinds(const std::string& text) {
  const Heading heading{text, text};
  std::vector<NamedFigureOf> figures;
  figures.push_back({"bars", bar_figure({.heading = heading,
                                         .y_label = text,
                                         .series = {text, "b"},
                                         .groups = {{text, {1, 2}}, {"g", {3, 4}}}})});
  figures.push_back({"stacked bars", stacked_bar_figure({.heading = heading,
                                                         .value_label = text,
                                                         .parts = {text, "waiting"},
                                                         .groups = {{text, {{text, {1, 2}}}}}})});
  CurveChart curves{.heading = heading,
                    .axis = CurveAxis::linear,
                    .x_label = text,
                    .y_label = text,
                    .curves = {{text, {{1, 1}, {2, 2}}}, {"b", {{1, 1}, {2, 2}}}},
                    .growth_in = "",
                    .marks = {{1.5, text}}};
  figures.push_back({"curves", curve_figure(curves)});
  curves.axis = CurveAxis::names;
  curves.x_names = {text, text, text};
  curves.y_tics = {{1, text}};
  figures.push_back({"curves over names", curve_figure(curves)});
  figures.push_back(
      {"heat map", heatmap_figure(heading, std::vector{map_named(text, 3)}, LinkQuantity::bytes)});
  figures.push_back({"large heat map", heatmap_figure(heading, std::vector(3, map_named(text, 90)),
                                                      LinkQuantity::utilisation)});
  figures.push_back({"sorted links", sorted_links_figure(heading, std::vector{map_named(text, 3)},
                                                         LinkQuantity::utilisation)});
  figures.push_back({"choice map", choice_map_figure({.title = text,
                                                      .note = text,
                                                      .x_label = text,
                                                      .y_label = text,
                                                      .columns = {text, "2"},
                                                      .rows = {text},
                                                      .choices = {{text, 0x265fa3}},
                                                      .cells = {{0, 0, 0, text, text}}})});
  figures.push_back({"schedule", schedule_of(text)});
  return figures;
}

} // namespace

TEST_CASE("every kind of picture is well-formed and shows hostile texts as they are") {
  const std::string hostile =
      GENERATE(std::string("\"<b>&amp;'%d%%\\n{x}_^@~`$#😀"), std::string("a\x01\x1b[31m\x7f]]>-->"),
               std::string("</svg>\nEND\nplot 1"));
  std::string shown = hostile;
  std::ranges::replace(shown, '\n', ' ');
  shown = printable(shown);
  for (const auto& [kind, figure] : all_kinds(hostile)) {
    CAPTURE(kind, shown);
    const Svg svg = read(figure);
    CHECK(svg.shows(shown));
  }
}

TEST_CASE("in print nothing is smaller than 7 points; texts stay in the picture and apart") {
  const std::string name = GENERATE(std::string("tacos"), std::string(30, 'n'));
  for (const auto& [kind, figure] : all_kinds(name)) {
    const Svg svg = read(figure);
    // 7 inches of 72 points for a page's width, and no more than its share for less.
    const double printed = std::min(7.0 * 72 / svg.width, 0.7);
    CHECK(svg.width == figure.width);
    for (const SvgText& text : svg.texts) {
      if (text.text.empty()) continue;
      CAPTURE(kind, text.text, text.font, svg.width);
      CHECK(text.font * printed > 6.98);
    }
    CAPTURE(kind);
    if (name.size() < 10) CHECK(faults_of(svg) == std::vector<std::string>{});
  }
}

TEST_CASE("names beside curves and words above them don't overlap") {
  const int seed = GENERATE(1, 2, 3, 4);
  Random random(static_cast<std::uint64_t>(seed));
  CurveChart chart{.heading = {"A title of usual length, which says the case", "a note"},
                   .axis = CurveAxis::bytes,
                   .x_label = "collective size",
                   .y_label = "time [ms]",
                   .curves = {},
                   .growth_in = "",
                   .logarithmic = seed % 2 == 0};
  for (int c = 0; c < 4 + 5 * seed; ++c) {
    Curve curve{"curve " + std::to_string(c), {}};
    for (const double x : {1024.0, 32768.0, 1048576.0})
      curve.points.push_back({x, 1 + static_cast<double>(random.below(8))}); // many alike
    chart.curves.push_back(curve);
  }
  for (int m = 0; m < 5; ++m)
    chart.marks.push_back({1024.0 * static_cast<double>(1 + random.below(500)),
                           "event " + std::to_string(m) + " happens"});
  const Svg svg = read(curve_figure(chart));
  CHECK(svg.texts.size() > 20);
  CHECK(faults_of(svg) == std::vector<std::string>{});
}

TEST_CASE("heights are spread no further than they must be") {
  using Heights = std::vector<double>;
  CHECK(spread_heights(Heights{10, 50, 90}, 10, 0, 100) == Heights{10, 50, 90});
  CHECK(spread_heights(Heights{50, 50, 50}, 10, 0, 100) == Heights{40, 50, 60});
  CHECK(spread_heights(Heights{0, 0, 40}, 10, 0, 100) == Heights{0, 10, 40});
  CHECK(spread_heights(Heights{100, 100}, 10, 0, 100) == Heights{90, 100});
  CHECK(spread_heights(Heights{30, 34, 47}, 10, 0, 100) == Heights{27, 37, 47});
  CHECK(spread_heights(Heights{}, 10, 0, 100).empty());
}

TEST_CASE("a curve that nobody sees says upon which it lies, and both show") {
  const std::vector<PlotPoint> same{{1, 5}, {2, 7}, {3, 6}};
  CurveChart chart{.heading = "h",
                   .axis = CurveAxis::linear,
                   .x_label = "x",
                   .y_label = "y",
                   .curves = {{"ring", same}, {"tacos", same}, {"other", {{1, 1}, {3, 2}}}},
                   .growth_in = ""};
  const auto shows = [&](const char* text) { return read(curve_figure(chart)).shows(text); };
  CHECK(shows("(on ring)"));
  CHECK_FALSE(shows("(on tacos)"));
  const Svg svg = read(curve_figure(chart));
  CHECK(std::ranges::any_of(svg.paths, [](const svg_reading::SvgPath& path) {
    return path.stroke == "#ee8a1a" && path.dash == "5 5"; // tacos's, through which ring shows
  }));
  chart.curves[1].points[1].y = 2;
  CHECK_FALSE(shows("(on "));
  // Between its ends it isn't on a curve that bends away.
  chart.curves[1].points = {{1, 5}, {3, 6}};
  CHECK_FALSE(shows("(on "));
  chart.curves[1].points = {{1, 5}, {2, 2}, {3, 6}};
  // A single point under a curve can't be seen at all.
  chart.curves[0].points = {{2, 2}};
  CHECK(shows("(under tacos)"));
}

TEST_CASE("a logarithmic axis has two marks at least, however short it is") {
  for (const double high : {3.1, 3.4, 4.9, 9.0, 40.0}) {
    const PlotAxis axis{3, high, true};
    const std::vector<AxisTic> marks = axis.marks(6);
    CHECK(std::ranges::count_if(marks, [&](const AxisTic& each) {
            return each.at >= axis.low && each.at <= axis.high;
          }) >= 2);
  }
}

TEST_CASE("two sizes have no law") {
  CurveChart chart{.heading = "h",
                   .axis = CurveAxis::tens,
                   .x_label = "NPUs",
                   .y_label = "s",
                   .curves = {{"tacos", {{10, 1}, {10, 2}, {100, 100}}}},
                   .growth_in = "N"};
  CHECK_FALSE(read(curve_figure(chart)).shows("N^"));
  chart.curves[0].points.push_back({1000, 10000});
  CHECK(read(curve_figure(chart)).shows("tacos: N^"));
}

} // namespace chart_reading_test
