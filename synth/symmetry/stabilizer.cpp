// A random element, followed by the coset representative that returns the point, is a random
// element of the stabilizer. Orbits grow with each one that is useful, so that a run of useless
// ones says that nothing is missing.

#include "synth/symmetry/stabilizer.hpp"

#include "synth/symmetry/random_products.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace tutti {

namespace {

/// An orbit as a Schreier tree: by which generator each point is reached from the first.
class Orbit {
public:
  Orbit(std::span<const Permutation> generators, std::uint32_t first)
      : first_(first), by_(generators.front().size(), nullptr) {
    for (const Permutation& one : generators) inverses_.push_back(inverse(one));
    std::vector<std::uint32_t> queue{first};
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (std::size_t g = 0; g < generators.size(); ++g) {
        const std::uint32_t next = generators[g][queue[i]];
        if (next == first || by_[next]) continue;
        by_[next] = &inverses_[g];
        queue.push_back(next);
      }
  }

  /// The element, then a product that maps its image of the first point back: fixes that point.
  [[nodiscard]] Permutation returned(Permutation element) const {
    while (element[first_] != first_) element = composed(element, *by_[element[first_]]);
    return element;
  }

private:
  std::uint32_t first_;
  std::vector<Permutation> inverses_;
  std::vector<const Permutation*> by_; ///< [point]: the inverse of what took it here
};

} // namespace

std::vector<Permutation> stabilizer(std::span<const Permutation> generators, std::uint32_t point) {
  constexpr std::size_t most_idle = 10;
  if (generators.empty()) return {};
  const Orbit orbit(generators, point);
  RandomProducts random(generators);
  const std::size_t points = generators.front().size();
  std::vector<std::uint32_t> orbit_of(points);
  std::iota(orbit_of.begin(), orbit_of.end(), 0U);
  std::vector<Permutation> found;
  for (std::size_t idle = 0; idle < most_idle;) {
    Permutation next = orbit.returned(random.next());
    bool grown = false;
    for (std::uint32_t p = 0; p < points; ++p) grown = grown || orbit_of[next[p]] != orbit_of[p];
    found.push_back(std::move(next));
    idle = grown ? 0 : idle + 1;
    if (grown) orbit_of = orbits(found, points);
  }
  if (std::ranges::all_of(orbit_of, [p = 0U](std::uint32_t least) mutable { return least == p++; }))
    found.clear();
  return found;
}

} // namespace tutti
