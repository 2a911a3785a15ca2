// Small groups are listed breadth-first from the identity, which makes their order the same on
// every machine; orbits of any group come from its generators alone, by union-find.

#include "synth/symmetry/permutations.hpp"

#include "sim/graphs/disjoint_sets.hpp"

#include <cassert>
#include <numeric>
#include <set>
#include <utility>

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
  DisjointSets joined(points);
  for (const Permutation& generator : generators) {
    assert(generator.size() >= points);
    for (std::uint32_t point = 0; point < points; ++point) joined.join(point, generator[point]);
  }
  return std::move(joined).least();
}

} // namespace tutti
