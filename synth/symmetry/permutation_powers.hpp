// Powers of permutations, and which of them are semiregular: all cycles on the first points are of
// one length.
#pragma once

#include "synth/symmetry/permutations.hpp"

#include <cstddef>
#include <vector>

namespace tutti {

/// O(size), whatever the exponent.
[[nodiscard]] Permutation power(const Permutation& permutation, std::size_t exponent);

/// The order, on points 0 .. points - 1, of a semiregular permutation other than the identity: each
/// of its powers fixes none of these points or all, so that all cycles are as long. 0 for others.
/// Pre: it maps these points to themselves.
[[nodiscard]] std::size_t semiregular_order(const Permutation& permutation, std::size_t points);

/// The permutation itself and, for each prime, its power whose order on the points is one of that
/// prime: those that are semiregular. In a product of groups these are what stays within one
/// factor.
[[nodiscard]] std::vector<Permutation> semiregular_powers(const Permutation& permutation,
                                                          std::size_t points);

} // namespace tutti
