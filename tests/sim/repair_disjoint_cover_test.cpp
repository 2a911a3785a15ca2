// Against trying every subset; where the search is given up, what a check of histories asks for.

#include "sim/random.hpp"
#include "sim/repair/disjoint_cover.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace repair_disjoint_cover_test {

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

TEST_CASE("no sum would hold more in place of those within it, also where the search is given up") {
  Random random(7);
  int with_gaps = 0;
  for (int round = 0; round < 60; ++round) {
    const std::uint64_t bits = 20 + random.below(108), words = (bits + 63) / 64;
    const auto has = [&](std::span<const std::uint64_t> set, std::uint64_t bit) {
      return (set[bit / 64] >> (bit % 64) & 1) != 0;
    };
    // Unions of what some have already, as partial sums are, and others.
    std::vector<std::vector<std::uint64_t>> sets;
    for (std::uint64_t count = 30 + random.below(100); count > 0; --count) {
      std::vector<std::uint64_t> set(words);
      for (std::uint64_t some = 2 + random.below(6); some > 0; --some) {
        const std::uint64_t bit = random.below(bits);
        set[bit / 64] |= std::uint64_t{1} << (bit % 64);
      }
      if (!sets.empty() && random.below(3) == 0)
        for (std::uint64_t w = 0; w < words; ++w) set[w] |= sets[random.below(sets.size())][w];
      sets.push_back(std::move(set));
    }
    std::vector<PartialSum> sums;
    std::vector<std::uint64_t> wanted(words);
    for (std::uint32_t i = 0; i < sets.size(); ++i) {
      sums.push_back({NodeId{i}, sets[i]});
      for (std::uint64_t w = 0; w < words; ++w) wanted[w] |= sets[i][w];
    }
    const std::vector<std::uint32_t> found = disjoint_cover(sums, wanted);
    std::vector<std::uint64_t> held(words);
    for (const std::uint32_t i : found)
      for (std::uint64_t w = 0; w < words; ++w) {
        CHECK((held[w] & sets[i][w]) == 0);
        held[w] |= sets[i][w];
      }
    with_gaps += held != wanted ? 1 : 0;
    for (const std::vector<std::uint64_t>& set : sets) {
      bool adds = false;
      for (std::uint64_t bit = 0; bit < bits; ++bit)
        adds = adds || (has(set, bit) && !has(held, bit));
      if (!adds) continue;
      const bool leaves_room = std::ranges::all_of(found, [&](std::uint32_t i) {
        bool inside = true, apart = true;
        for (std::uint64_t w = 0; w < words; ++w) {
          inside = inside && (sets[i][w] & ~set[w]) == 0;
          apart = apart && (sets[i][w] & set[w]) == 0;
        }
        return inside || apart;
      });
      CHECK_FALSE(leaves_room);
    }
  }
  CHECK(with_gaps > 30);
}

} // namespace repair_disjoint_cover_test
