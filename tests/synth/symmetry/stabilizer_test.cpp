#include "synth/symmetry/stabilizer.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <numeric>

namespace stabilizer_test {

using namespace tutti;

namespace {

Permutation identity(std::uint32_t points) {
  Permutation result(points);
  std::iota(result.begin(), result.end(), 0U);
  return result;
}

Permutation swap_of(std::uint32_t points, std::uint32_t a, std::uint32_t b) {
  Permutation result = identity(points);
  std::swap(result[a], result[b]);
  return result;
}

std::vector<Permutation> all_swaps(std::uint32_t points) {
  std::vector<Permutation> generators;
  for (std::uint32_t p = 0; p + 1 < points; ++p) generators.push_back(swap_of(points, p, p + 1));
  return generators;
}

/// By definition, from all elements.
std::vector<Permutation> elements_keeping(const std::vector<Permutation>& generators,
                                          std::uint32_t points, std::uint32_t point) {
  std::vector<Permutation> kept = elements(generators, points, 100'000);
  std::erase_if(kept, [&](const Permutation& each) { return each[point] != point; });
  return kept;
}

} // namespace

TEST_CASE("stabilizer: its orbits are those of all elements that keep the point") {
  // Symmetric group; a square's symmetries (rotation, mirror); two independent pairs and a triple.
  const std::vector<std::vector<Permutation>> groups{
      all_swaps(6),
      {{1, 2, 3, 0}, {0, 3, 2, 1}},
      {{1, 0, 2, 3, 4, 5, 6}, {0, 1, 3, 2, 4, 5, 6}, {0, 1, 2, 3, 5, 6, 4}}};
  for (const std::vector<Permutation>& generators : groups) {
    const auto points = static_cast<std::uint32_t>(generators.front().size());
    for (std::uint32_t point = 0; point < points; ++point) {
      const std::vector<Permutation> found = stabilizer(generators, point);
      const std::vector<Permutation> kept = elements_keeping(generators, points, point);
      for (const Permutation& each : found) CHECK(std::ranges::count(kept, each) == 1);
      CHECK(orbits(found, points) == orbits(kept, points));
    }
  }
}

TEST_CASE("stabilizer: nothing is left of a group that moves all points or none") {
  CHECK(stabilizer(std::vector<Permutation>{{1, 2, 3, 4, 0}}, 2).empty());
  CHECK(stabilizer({}, 0).empty());
}

TEST_CASE("stabilizer: of 200 points moved at will all others stay one orbit") {
  const std::vector<Permutation> found = stabilizer(all_swaps(200), 100);
  const std::vector<std::uint32_t> orbit_of = orbits(found, 200);
  CHECK(orbit_of[100] == 100);
  CHECK(std::ranges::count(orbit_of, 0U) == 199);
}

} // namespace stabilizer_test
