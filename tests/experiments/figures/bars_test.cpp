// What bar charts say.
#include "experiments/driver/figures/bars.hpp"

#include "tests/catch.hpp"

#include <cmath>
#include <limits>

namespace bars_test {

using namespace tutti;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

BarChart two_networks() {
  return {.heading = "All-Reduce 1 GB",
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

TEST_CASE("A chart of nothing is refused") {
  BarChart bars = two_networks();
  for (BarGroup& group : bars.groups) group.values = {none, none};
  CHECK_THROWS_WITH(bar_figure(bars), "a bar chart needs at least one value");
  CHECK_THROWS_WITH(bar_figure(BarChart{}), "a bar chart needs at least one value");
}

} // namespace bars_test
