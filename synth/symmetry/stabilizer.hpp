// Of a group of permutations, those that leave a point where it is.
#pragma once

#include "synth/symmetry/permutations.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Random elements of the stabilizer of `point` in the group that these generate (Schreier's
/// lemma), as many until the last ten made no more points one orbit: they generate it, or nearly
/// so, with the same orbits but for bad luck, and in any case a group that leaves the point in
/// place. Empty where nothing else moves. Deterministic. Cost: some twenty times O(length of a
/// product that takes the point anywhere * points), and O(generators * points).
[[nodiscard]] std::vector<Permutation> stabilizer(std::span<const Permutation> generators,
                                                  std::uint32_t point);

} // namespace tutti
