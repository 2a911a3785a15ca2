// Automorphisms of coloured directed graphs by bliss, and groups of permutations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

/// image[i] is where i goes.
using Permutation = std::vector<std::uint32_t>;

/// Vertices are 0 .. colours.size() - 1; parallel arcs count once (give an arc that carries a
/// weight a vertex of its own).
struct ColouredGraph {
  std::vector<std::uint32_t> colours;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs; ///< from, to
};

/// Generators of the group of all permutations that keep colours and arcs; empty where that is only
/// the identity. Each is checked against the graph. Deterministic.
[[nodiscard]] std::vector<Permutation> automorphism_generators(const ColouredGraph& graph);

[[nodiscard]] bool is_automorphism(const ColouredGraph& graph, const Permutation& permutation);

/// First a, then b.
[[nodiscard]] Permutation composed(const Permutation& a, const Permutation& b);
[[nodiscard]] Permutation inverse(const Permutation& permutation);

/// All elements of the group that these generate, the identity first, breadth-first; empty where
/// there are more than `most`. Pre: all permute `points` points.
[[nodiscard]] std::vector<Permutation> elements(std::span<const Permutation> generators,
                                                std::size_t points, std::size_t most);

/// orbit_of[point]: the least point of its orbit. O(generators * points * inverse Ackermann).
[[nodiscard]] std::vector<std::uint32_t> orbits(std::span<const Permutation> generators,
                                                std::size_t points);

/// Subgroups in which no element but the identity leaves any point in place ("semiregular"), as
/// the lists of all their elements, identity first; the largest first, at most `most_groups`, none
/// of order 1. Built from cyclic ones among up to `most_elements` elements of the group (seeded
/// random products where there are more), extended greedily. A regular one, with as many elements
/// as points, comes first where one was found. Deterministic.
[[nodiscard]] std::vector<std::vector<Permutation>>
semiregular_subgroups(std::span<const Permutation> generators, std::size_t points,
                      std::size_t most_elements, std::size_t most_groups);

} // namespace tutti
