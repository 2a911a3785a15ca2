// The stabilizer of a point in a permutation group.
#pragma once

#include "synth/symmetry/permutations.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Random elements of the stabilizer of `point` in the group that these generate (Schreier's
/// lemma), until the last ten joined no more orbits: they generate it or, rarely, a subgroup of
/// smaller orbits; in any case they fix the point. Empty where the stabilizer is trivial.
/// Deterministic. Cost: some twenty times O(length of a product that takes the point anywhere *
/// points), and O(generators * points).
[[nodiscard]] std::vector<Permutation> stabilizer(std::span<const Permutation> generators,
                                                  std::uint32_t point);

} // namespace tutti
