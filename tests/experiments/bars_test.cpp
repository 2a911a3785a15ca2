// What bar charts and charts over sizes say.
#include "experiments/bars.hpp"

#include "tests/catch.hpp"

#include <cmath>
#include <limits>

using namespace tutti;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

BarChart two_networks() {
  return {.title = "All-Reduce 1 GB",
          .y_label = "algorithm bandwidth [GB/s]",
          .series = {"ring", "tacos"},
          .groups = {{"ring:64", {50.84, none}}, {"mesh2d:8x8", {25.3, 1595.4}}}};
}

} // namespace

TEST_CASE("A bar chart has every value as text with three digits") {
  const std::string script = bar_figure(two_networks()).script;
  for (const char* text :
       {" 50.8\n", " NaN n/a\n", " 25.3\n", " 1595\n", "'ring:64' 0", "'mesh2d:8x8' 1",
        "title 'ring'", "title 'tacos'", "'algorithm bandwidth [GB/s]'"})
    CHECK_THAT(script, ContainsSubstring(text));
}

TEST_CASE("Bars start at zero, or on a logarithmic axis at a power of ten") {
  BarChart chart = two_networks();
  CHECK_THAT(bar_figure(chart).script, ContainsSubstring("set yrange [0:1754.94]")); // 1.1 * 1595.4
  chart.logarithmic = true;
  CHECK_THAT(bar_figure(chart).script, ContainsSubstring("set logscale y\n"));
  CHECK_THAT(bar_figure(chart).script, ContainsSubstring("set yrange [10:"));
}

TEST_CASE("Values of many bars stand upright, those of few lie") {
  BarChart chart = two_networks();
  CHECK(bar_figure(chart).script.find("rotate left") == std::string::npos);
  while (chart.groups.size() < 15) chart.groups.push_back({"ring:8", {1, 2}});
  CHECK_THAT(bar_figure(chart).script, ContainsSubstring("rotate left"));
}

TEST_CASE("The axis of sizes is marked at powers of two") {
  const SizeChart chart{.title = "sweep",
                        .y_label = "algorithm bandwidth [GB/s]",
                        .curves = {{"ring", {{Bytes{1024}, 0.5}, {Bytes{1 << 20}, 10.0}}},
                                   {"tacos", {{Bytes{1 << 20}, 20.0}}}}};
  const std::string script = size_figure(chart).script;
  // Ten powers in at most nine steps: every second.
  CHECK_THAT(script, ContainsSubstring("set xtics ('1 KiB' 1024, '4 KiB' 4096, '16 KiB' 16384, "
                                       "'64 KiB' 65536, '256 KiB' 262144, '1 MiB' 1048576)"));
  CHECK_THAT(script, ContainsSubstring("\n1024 0.5\n1048576 10\nEND"));
  CHECK_THAT(script, ContainsSubstring("set yrange [0:21.2]")); // 1.06 * 20
}

TEST_CASE("A chart of nothing is refused") {
  BarChart bars = two_networks();
  for (BarGroup& group : bars.groups) group.values = {none, none};
  CHECK_THROWS_WITH(bar_figure(bars), "a bar chart needs at least one value");
  CHECK_THROWS_WITH(bar_figure(BarChart{}), "a bar chart needs at least one value");
  CHECK_THROWS_WITH(size_figure(SizeChart{.title = "t", .y_label = "y", .curves = {{"ring", {}}}}),
                    "a chart over sizes needs at least one point");
}
