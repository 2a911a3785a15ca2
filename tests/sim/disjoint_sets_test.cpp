// Disjoint sets against the definition: the name of each element's set, renamed at each join.

#include "sim/graphs/disjoint_sets.hpp"
#include "sim/random.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace disjoint_sets_test {

using namespace tutti;

TEST_CASE("each element begins in a set of its own") {
  CHECK(DisjointSets(0).least().empty());
  CHECK(DisjointSets(3).least() == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("a set is found by its least element, whatever joined it") {
  DisjointSets sets(5);
  CHECK(sets.join(4, 3));
  CHECK(sets.join(2, 4));
  CHECK(sets.find(3) == 2);
  CHECK_FALSE(sets.join(2, 3));
  CHECK_FALSE(sets.join(1, 1));
  CHECK(sets.join(3, 0));
  CHECK(std::move(sets).least() == std::vector<std::uint32_t>{0, 1, 0, 0, 0});
}

TEST_CASE("disjoint sets are those that renaming at each join gives") {
  Random random(1);
  for (int i = 0; i < 50; ++i) {
    const auto elements = static_cast<std::uint32_t>(1 + random.below(40));
    std::vector<std::uint32_t> least(elements);
    std::iota(least.begin(), least.end(), 0U);
    DisjointSets sets(elements);
    for (std::uint32_t joins = 0; joins < elements; ++joins) {
      const auto a = static_cast<std::uint32_t>(random.below(elements)),
                 b = static_cast<std::uint32_t>(random.below(elements));
      const std::uint32_t low = std::min(least[a], least[b]), high = std::max(least[a], least[b]);
      REQUIRE(sets.join(a, b) == (low != high));
      std::ranges::replace(least, high, low);
      REQUIRE(sets.find(a) == low);
      REQUIRE(sets.find(b) == low);
    }
    CHECK(std::move(sets).least() == least);
  }
}

} // namespace disjoint_sets_test
