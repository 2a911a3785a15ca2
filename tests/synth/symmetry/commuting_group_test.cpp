#include "synth/symmetry/commuting_group.hpp"

#include "synth/symmetry/permutation_powers.hpp"
#include "synth/symmetry/swap_products.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

namespace commuting_group_test {

namespace {

using namespace tutti;

Permutation identity(std::size_t points) {
  Permutation same(points);
  std::iota(same.begin(), same.end(), 0U);
  return same;
}

Permutation swapped(std::size_t points,
                    const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  Permutation made = identity(points);
  for (const auto& [a, b] : pairs) std::swap(made[a], made[b]);
  return made;
}

std::size_t order(const Permutation& permutation) {
  std::size_t exponent = 1;
  for (Permutation made = permutation; made != identity(made.size()); ++exponent)
    made = composed(made, permutation);
  return exponent;
}

// All elements of the group that commute with these, found by trying each.
Centralizer centralizer_in(const std::vector<Permutation>& generators) {
  return [all = elements(generators, generators.front().size(), 100'000)](
             std::span<const Permutation> with) {
    std::vector<Permutation> found;
    for (const Permutation& one : all)
      if (std::ranges::all_of(with, [&](const Permutation& other) {
            return composed(one, other) == composed(other, one);
          }))
        found.push_back(one);
    return found;
  };
}

// Of a group that may be searched without help.
CommutingGroup group_in(const std::vector<Permutation>& generators, std::size_t points,
                        std::size_t most = 1000) {
  const CommutingGroup group =
      semiregular_commuting_group(generators, points, most, centralizer_in(generators));
  const std::vector<Permutation> all = elements(group, generators.front().size());
  CHECK(all.front() == identity(generators.front().size()));
  CHECK(all.size() == group.order());
  CHECK(std::set(all.begin(), all.end()).size() == all.size());
  const std::vector<Permutation> whole = elements(generators, generators.front().size(), 100'000);
  for (const Permutation& a : all) {
    CHECK(std::ranges::find(whole, a) != whole.end());
    for (std::size_t i = 0; i < points; ++i) CHECK((a[i] != i || a == all.front()));
    for (const Permutation& b : all) CHECK(composed(a, b) == composed(b, a));
  }
  return group;
}

} // namespace

TEST_CASE("powers of permutations") {
  const Permutation cycle{1, 2, 3, 4, 5, 0};
  CHECK(power(cycle, 0) == identity(6));
  CHECK(power(cycle, 4) == Permutation{4, 5, 0, 1, 2, 3});
  CHECK(power(cycle, 6'000'001) == cycle);
  CHECK(semiregular_order(cycle, 6) == 6);
  CHECK(semiregular_order(identity(6), 6) == 0);
  CHECK(semiregular_order({1, 0, 3, 2, 4}, 5) == 0);
  CHECK(semiregular_order({1, 0, 3, 2, 4}, 4) == 2); // the last point may stay
  CHECK(semiregular_powers(cycle, 6) ==
        std::vector<Permutation>{cycle, power(cycle, 3), power(cycle, 2)});
}

TEST_CASE("the product of swaps is a cycle of all parts, for each factor its own") {
  // Eight points as a table of 2 x 4: rows are swapped as wholes, columns along a tree.
  const std::vector<Permutation> generators{
      swapped(8, {{2, 3}, {6, 7}}), swapped(8, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}),
      swapped(8, {{1, 3}, {5, 7}}), swapped(8, {{0, 3}, {4, 7}})};
  const std::vector<Permutation> products = swap_products(generators, 8);
  REQUIRE(products.size() == 2);
  CHECK(order(products[0]) == 4);
  CHECK(semiregular_order(products[0], 8) == 4);
  CHECK(products[1] == generators[1]);
  CHECK(swap_products({}, 8).empty());
}

TEST_CASE("swaps of equally many points in different factors aren't mixed") {
  // S4 x S4 on a table of 4 x 4: both swap eight points.
  std::vector<Permutation> generators;
  for (std::uint32_t i = 0; i < 3; ++i) {
    Permutation rows = identity(16), columns = identity(16);
    for (std::uint32_t j = 0; j < 4; ++j) {
      std::swap(rows[4 * i + j], rows[4 * i + 4 + j]);
      std::swap(columns[4 * j + i], columns[4 * j + i + 1]);
    }
    generators.push_back(rows);
    generators.push_back(columns);
  }
  const std::vector<Permutation> products = swap_products(generators, 16);
  REQUIRE(products.size() == 2);
  for (const Permutation& product : products) CHECK(semiregular_order(product, 16) == 4);
  CHECK(group_in(generators, 16).order() == 16);
}

TEST_CASE("a commuting group is no larger than asked for") {
  const std::vector<Permutation> cycle{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0}};
  CHECK(group_in(cycle, 12).order() == 12);
  CHECK(group_in(cycle, 12, 11).order() == 6);
  CHECK(group_in(cycle, 12, 5).order() == 4);
  CHECK(group_in(cycle, 12, 1).order() == 1);
}

TEST_CASE("orbits of different sizes limit a commuting group") {
  // A square's four corners and its two diagonals: turns by a quarter fix no corner, but by a half
  // both diagonals.
  const std::vector<Permutation> turn{{1, 2, 3, 0, 5, 4}};
  CHECK(most_semiregular_elements(turn, 6, 100) == 2);
  CHECK(most_semiregular_elements(turn, 4, 100) == 4);
  CHECK(most_semiregular_elements(turn, 4, 3) == 2);
  CHECK(group_in(turn, 6).order() == 1);
  CHECK(group_in(turn, 4).order() == 4);
  const auto none = [](std::span<const Permutation>) { return std::vector<Permutation>{}; };
  CHECK(semiregular_commuting_group({}, 6, 100, none).order() == 1);
}

TEST_CASE("glide reflections of a torus don't lead astray") {
  // Of the 8 x 8 torus: a step, a mirror and the exchange of the axes. A step that mirrors is of
  // order 8 too, but leaves only two places in each row to commute with.
  Permutation step(64), mirror(64), exchange(64);
  for (std::uint32_t x = 0; x < 8; ++x)
    for (std::uint32_t y = 0; y < 8; ++y) {
      step[8 * x + y] = 8 * ((x + 1) % 8) + y;
      mirror[8 * x + y] = 8 * x + (8 - y) % 8;
      exchange[8 * x + y] = 8 * y + x;
    }
  CHECK(group_in({composed(step, mirror), mirror, exchange}, 64).order() == 64);
}

} // namespace commuting_group_test
