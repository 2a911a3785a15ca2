// Against trying every subset.

#include "sim/random.hpp"
#include "sim/repair/disjoint_cover.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <bit>
#include <vector>

using namespace tutti;

TEST_CASE("disjoint sums that leave the fewest gaps are found, and nothing could be added") {
  Random random(7);
  int with = 0, without = 0;
  for (int round = 0; round < 3'000; ++round) {
    const std::uint64_t bits = 2 + random.below(7), count = 1 + random.below(9);
    const std::uint64_t all = (std::uint64_t{1} << bits) - 1;
    std::vector<std::uint64_t> sets;
    for (std::uint64_t i = 0; i < count; ++i)
      sets.push_back(std::max<std::uint64_t>(1, random.next() & random.next() & all));
    int most = 0;
    for (std::uint64_t chosen = 1; chosen < std::uint64_t{1} << count; ++chosen) {
      std::uint64_t held = 0;
      int contributions = 0;
      for (std::uint64_t i = 0; i < count; ++i)
        if (chosen >> i & 1) held |= sets[i], contributions += std::popcount(sets[i]);
      if (contributions == std::popcount(held)) most = std::max(most, contributions);
    }
    std::vector<PartialSum> sums;
    for (std::uint32_t i = 0; i < count; ++i)
      sums.push_back({NodeId{i}, std::span(sets).subspan(i, 1)});
    const std::vector<std::uint32_t> found = disjoint_cover(sums, std::vector{all});
    ++(most == std::popcount(all) ? with : without);
    std::uint64_t held = 0;
    for (const std::uint32_t i : found) {
      CHECK((held & sets[i]) == 0);
      held |= sets[i];
    }
    CHECK(std::popcount(held) == most);
    CHECK(std::ranges::all_of(sets, [&](std::uint64_t set) { return (set & held) != 0; }));
    CHECK(std::ranges::is_sorted(found));
  }
  CHECK(with > 100);
  CHECK(without > 100);
}
