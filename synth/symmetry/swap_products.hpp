// Cycles of equal parts from swaps of two parts each.
#pragma once

#include "synth/symmetry/permutations.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace tutti {

/// Where parts of a structure can be exchanged at will, search by individualization (bliss) finds
/// generators that swap two parts. They form a tree over the parts, and the product of its swaps,
/// in whatever order, is a cycle of all parts. One product for each class of generators: those of
/// one direct factor (connected by not commuting) that move equally many of the first `points`
/// points. By the moved points, fewest first. O(pairs of generators * points these move).
[[nodiscard]] std::vector<Permutation> swap_products(std::span<const Permutation> generators,
                                                     std::size_t points);

} // namespace tutti
