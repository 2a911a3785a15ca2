// Exact fractions up to the edge of 64 bits.

#include "sim/error.hpp"
#include "sim/ratio.hpp"
#include "tests/catch.hpp"

#include <cstdint>
#include <limits>

namespace ratio_test {

using namespace tutti;

namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

} // namespace

TEST_CASE("a ratio is in lowest terms with a positive denominator") {
  CHECK(Ratio(14, 12) == Ratio(7, 6));
  CHECK(Ratio(-14, -12).numerator() == 7);
  CHECK(Ratio(14, -12).numerator() == -7);
  CHECK(Ratio(14, -12).denominator() == 6);
  CHECK(Ratio(0, -5).denominator() == 1);
  CHECK(Ratio() == Ratio(0));
  CHECK(Ratio(smallest, smallest) == Ratio(1));
  CHECK(Ratio(smallest, 2).numerator() == smallest / 2);
}

TEST_CASE("a ratio counts") {
  CHECK(Ratio(1, 2) + Ratio(2, 3) == Ratio(7, 6));
  CHECK(Ratio(1, 2) - Ratio(2, 3) == Ratio(-1, 6));
  CHECK(Ratio(2, 3) * Ratio(-3, 4) == Ratio(-1, 2));
  CHECK(Ratio(2, 3) / Ratio(-4, 3) == Ratio(-1, 2));
  CHECK(Ratio(7, 6).value() == Approx(7.0 / 6.0));
  CHECK(to_text(Ratio(7, 6)) == "7/6");
  CHECK(to_text(Ratio(-4, 2)) == "-2");
}

TEST_CASE("the whole part of a ratio is found on either side of 0") {
  for (std::int64_t numerator = -12; numerator <= 12; ++numerator) {
    for (std::int64_t denominator = 1; denominator <= 5; ++denominator) {
      const Ratio ratio(numerator, denominator);
      INFO(to_text(ratio));
      CHECK(ratio.floor() * denominator <= numerator);
      CHECK((ratio.floor() + 1) * denominator > numerator);
      CHECK(ratio.ceil() * denominator >= numerator);
      CHECK((ratio.ceil() - 1) * denominator < numerator);
    }
  }
}

TEST_CASE("ratios are compared exactly") {
  CHECK(Ratio(1, 3) < Ratio(1, 2));
  CHECK(Ratio(-1, 2) < Ratio(-1, 3));
  CHECK(Ratio(7, 6) >= Ratio(7, 6));
  CHECK(Ratio(largest - 1, largest) < Ratio(1)); // the same as doubles
  CHECK(Ratio(largest - 2, largest - 1) < Ratio(largest - 1, largest));
}

TEST_CASE("what doesn't fit a ratio is an error, what fits in the end is not") {
  CHECK(Ratio(largest, 3) * Ratio(3, largest) == Ratio(1));
  CHECK(Ratio(largest) + Ratio(-1) == Ratio(largest - 1));
  CHECK(Ratio(1, largest) + Ratio(largest - 1, largest) == Ratio(1));
  CHECK_THROWS_AS(Ratio(largest) + Ratio(1), InputError);
  CHECK_THROWS_AS(Ratio(smallest) - Ratio(1), InputError);
  CHECK_THROWS_AS(Ratio(largest) * Ratio(2), InputError);
  CHECK_THROWS_AS(Ratio(smallest, -1), InputError);
  CHECK_THROWS_AS(Ratio(1, smallest), InputError);
  CHECK_THROWS_AS(Ratio(1, 0), InputError);
  CHECK_THROWS_AS(Ratio(1) / Ratio(0), InputError);
}

} // namespace ratio_test
