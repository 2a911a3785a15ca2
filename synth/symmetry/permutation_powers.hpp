// Powers of permutations, and which of them move every one of the first points.
#pragma once

#include "synth/symmetry/permutations.hpp"

#include <cstddef>
#include <vector>

namespace tutti {

/// O(size), whatever the exponent.
[[nodiscard]] Permutation power(const Permutation& permutation, std::size_t exponent);

/// The order, on points 0 .. points - 1, of a permutation other than the identity whose powers
/// leave none of these in place unless all: then all cycles are as long. 0 for others.
/// Pre: these points go among themselves.
[[nodiscard]] std::size_t semiregular_order(const Permutation& permutation, std::size_t points);

/// The permutation itself and, for each prime, its power whose order on the points is one of that
/// prime: those that are semiregular. In a product of groups these are what stays within one
/// factor.
[[nodiscard]] std::vector<Permutation> semiregular_powers(const Permutation& permutation,
                                                          std::size_t points);

} // namespace tutti
