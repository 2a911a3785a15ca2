#include "experiments/driver/records/power_law.hpp"

#include "tests/catch.hpp"

#include <cmath>
#include <vector>

namespace power_law_test {

using namespace tutti;

TEST_CASE("points of a power law give it back") {
  for (const double exponent : {-1.0, 0.0, 0.5, 2.0, 3.25}) {
    std::vector<PlotPoint> points;
    for (const double x : {64.0, 144.0, 1000.0, 40'000.0})
      points.push_back({x, 3e-7 * std::pow(x, exponent)});
    const auto law = fitted_power_law(points);
    REQUIRE(law);
    CHECK(law->exponent == Approx(exponent).margin(1e-9));
    CHECK(law->factor == Approx(3e-7));
  }
}

TEST_CASE("the line is the least-squares one of the logarithms") {
  // log2: (0, 0), (1, 3), (2, 3); slope = sum((x-1)(y-2)) / 2 = (2 + 0 + 1) / 2
  const std::vector<PlotPoint> points{{1, 1}, {2, 8}, {4, 8}};
  const auto law = fitted_power_law(points);
  REQUIRE(law);
  CHECK(law->exponent == Approx(1.5));
  CHECK(law->factor == Approx(std::sqrt(2.0))); // 2^(2 - 1.5)
}

TEST_CASE("without two sizes, or with a value that isn't positive, there is no law") {
  CHECK_FALSE(fitted_power_law({}));
  CHECK_FALSE(fitted_power_law(std::vector<PlotPoint>{{2, 3}}));
  CHECK_FALSE(fitted_power_law(std::vector<PlotPoint>{{2, 3}, {2, 4}}));
  CHECK_FALSE(fitted_power_law(std::vector<PlotPoint>{{2, 3}, {4, 0}}));
  CHECK_FALSE(fitted_power_law(std::vector<PlotPoint>{{0, 3}, {4, 1}}));
}

} // namespace power_law_test
