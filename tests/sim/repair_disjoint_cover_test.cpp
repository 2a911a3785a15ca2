// Against trying every subset.

#include "sim/random.hpp"
#include "sim/repair/disjoint_cover.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <bit>
#include <vector>

using namespace tutti;

TEST_CASE("a disjoint cover is found exactly where there is one") {
  Random random(7);
  int with = 0, without = 0;
  for (int round = 0; round < 3'000; ++round) {
    const std::uint64_t bits = 2 + random.below(7), count = 1 + random.below(9);
    const std::uint64_t all = (std::uint64_t{1} << bits) - 1;
    std::vector<std::uint64_t> sets;
    for (std::uint64_t i = 0; i < count; ++i)
      sets.push_back(std::max<std::uint64_t>(1, random.next() & random.next() & all));
    bool exists = false;
    for (std::uint64_t chosen = 1; chosen < std::uint64_t{1} << count; ++chosen) {
      std::uint64_t held = 0;
      int contributions = 0;
      for (std::uint64_t i = 0; i < count; ++i)
        if (chosen >> i & 1) held |= sets[i], contributions += std::popcount(sets[i]);
      exists = exists || (held == all && contributions == std::popcount(all));
    }
    std::vector<PartialSum> sums;
    for (std::uint32_t i = 0; i < count; ++i)
      sums.push_back({NodeId{i}, std::span(sets).subspan(i, 1)});
    const auto found = disjoint_cover(sums, std::vector{all});
    CHECK(found.has_value() == exists);
    ++(exists ? with : without);
    if (!found) continue;
    std::uint64_t held = 0;
    for (const NodeId npu : *found) {
      CHECK((held & sets[npu.value]) == 0);
      held |= sets[npu.value];
    }
    CHECK(held == all);
    CHECK(std::ranges::is_sorted(*found));
  }
  CHECK(with > 100);
  CHECK(without > 100);
}
