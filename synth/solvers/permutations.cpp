#include "synth/solvers/permutations.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <set>

namespace tutti {

Permutation composed(const Permutation& a, const Permutation& b) {
  assert(a.size() == b.size());
  Permutation result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = b[a[i]];
  return result;
}

Permutation inverse(const Permutation& permutation) {
  Permutation result(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    result[permutation[i]] = static_cast<std::uint32_t>(i);
  return result;
}

std::vector<Permutation> elements(std::span<const Permutation> generators, std::size_t points,
                                  std::size_t most) {
  Permutation identity(points);
  std::iota(identity.begin(), identity.end(), 0U);
  std::set<Permutation> known{identity};
  std::vector<Permutation> found{std::move(identity)};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const Permutation& generator : generators) {
      Permutation next = composed(found[i], generator);
      if (known.insert(next).second) found.push_back(std::move(next));
      if (found.size() > most) return {};
    }
  }
  return found.size() > most ? std::vector<Permutation>{} : found;
}

std::vector<std::uint32_t> orbits(std::span<const Permutation> generators, std::size_t points) {
  std::vector<std::uint32_t> orbit_of(points);
  std::iota(orbit_of.begin(), orbit_of.end(), 0U);
  const auto root = [&](std::uint32_t point) {
    while (orbit_of[point] != point) point = orbit_of[point] = orbit_of[orbit_of[point]];
    return point;
  };
  for (const Permutation& generator : generators) {
    assert(generator.size() >= points);
    for (std::uint32_t point = 0; point < points; ++point) {
      const std::uint32_t a = root(point), b = root(generator[point]);
      orbit_of[std::max(a, b)] = std::min(a, b); // so that the least point stays the root
    }
  }
  for (std::uint32_t point = 0; point < points; ++point) orbit_of[point] = root(point);
  return orbit_of;
}

} // namespace tutti
