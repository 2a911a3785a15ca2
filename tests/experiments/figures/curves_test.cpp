// What charts of curves say.
#include "experiments/driver/figures/curves.hpp"

#include "tests/catch.hpp"

namespace curves_test {

using namespace tutti;

TEST_CASE("The axis of sizes is marked at powers of two") {
  const CurveChart chart{
      .heading = "sweep",
      .axis = CurveAxis::bytes,
      .x_label = "collective size",
      .y_label = "algorithm bandwidth [GB/s]",
      .curves = {{"ring", {{1024, 0.5}, {1 << 20, 10.0}}}, {"tacos", {{1 << 20, 20.0}}}},
      .growth_in = ""};
  const std::string script = curve_figure(chart).script;
  // Ten powers in at most nine steps: every second.
  CHECK_THAT(script, ContainsSubstring("set xtics ('1 KiB' 1024, '4 KiB' 4096, '16 KiB' 16384, "
                                       "'64 KiB' 65536, '256 KiB' 262144, '1 MiB' 1048576)"));
  CHECK_THAT(script, ContainsSubstring("\n1024 0.5\n1048576 10\nEND"));
  CHECK_THAT(script, ContainsSubstring("set yrange [0:21.2]")); // 1.06 * 20
  CHECK_THAT(script, ContainsSubstring("set label 'ring' at screen"));
}

TEST_CASE("Counts are marked at powers of two, without a unit") {
  const CurveChart chart{.heading = "chunks",
                         .axis = CurveAxis::powers,
                         .x_label = "chunks per shard",
                         .y_label = "time / that of tacos",
                         .curves = {{"ring", {{1, 2.2}, {4, 2.0}}}},
                         .growth_in = ""};
  CHECK_THAT(curve_figure(chart).script, ContainsSubstring("set xtics ('1' 1, '2' 2, '4' 4)"));
  CurveChart others = chart;
  others.curves[0].points = {{1, 2.2}, {3, 2.0}, {9, 1.9}};
  CHECK_THAT(curve_figure(others).script, ContainsSubstring("set xtics ('1' 1, '3' 3, '9' 9)"));
  others.axis = CurveAxis::tens;
  others.curves[0].points = {{512, 2.2}, {1024, 2.0}};
  CHECK_THAT(curve_figure(others).script, ContainsSubstring("set xtics ('512' 512, '1024' 1024)"));
  others.curves[0].points = {{512, 2.2}, {513, 2.2}, {1024, 2.0}}; // no room for all
  CHECK_THAT(curve_figure(others).script, ContainsSubstring("'500' 500"));
}

TEST_CASE("Growth: both axes logarithmic, the law as a line and in the legend") {
  const CurveChart chart{
      .heading = {"growth", "on paper"},
      .axis = CurveAxis::tens,
      .x_label = "NPUs",
      .y_label = "synthesis time [CPU s]",
      .curves = {{"tacos", {{10, 0.02}, {100, 2}, {1000, 200}}}, {"ring", {{10, 1}}}},
      .growth_in = "N"};
  const std::string script = curve_figure(chart).script;
  for (const char* words : {"set logscale x\n", "set logscale y\n", "set label 'tacos: N^2.00'",
                            "$law0 << END\n10 0.02\n1000 200\nEND"})
    CHECK_THAT(script, ContainsSubstring(words));
  CHECK_THAT(script, ContainsSubstring("set label 'ring'")); // one point has no law
  CHECK_THAT(script, ContainsSubstring("'on paper' at screen 0, screen 0"));
}

TEST_CASE("A chart of no point is refused") {
  CurveChart chart;
  chart.curves = {{"ring", {}}};
  CHECK_THROWS_WITH(curve_figure(chart), "a chart of curves needs at least one point");
}

} // namespace curves_test
