// Permutations, the groups that they generate, and their orbits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// image[i] is where i goes.
using Permutation = std::vector<std::uint32_t>;

/// First a, then b.
[[nodiscard]] Permutation composed(const Permutation& a, const Permutation& b);
[[nodiscard]] Permutation inverse(const Permutation& permutation);

/// All elements of the group that these generate, the identity first, breadth-first; empty where
/// there are more than `most`. Pre: all permute `points` points.
[[nodiscard]] std::vector<Permutation> elements(std::span<const Permutation> generators,
                                                std::size_t points, std::size_t most);

/// orbit_of[point]: the least point of its orbit. Pre: all map the first `points` points to
/// themselves. O(generators * points * log(points)).
[[nodiscard]] std::vector<std::uint32_t> orbits(std::span<const Permutation> generators,
                                                std::size_t points);

} // namespace tutti
