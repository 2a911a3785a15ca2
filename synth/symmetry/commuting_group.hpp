// Abelian semiregular groups (they act freely: no element but the identity fixes a point), found in
// groups far too large to list: translations of tori, hypercubes and clusters of many equal parts.
#pragma once

#include "synth/symmetry/permutations.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace tutti {

/// All elements are products of powers: of each generator below its relative order (its least
/// power in the group of those before), each element once.
struct CommutingGroup {
  std::vector<Permutation> generators;
  std::vector<std::size_t> relative_orders;

  [[nodiscard]] std::size_t order() const;
};

/// The identity first. Permutes `size` points.
[[nodiscard]] std::vector<Permutation> elements(const CommutingGroup& group, std::size_t size);

/// Generators of the group of all elements that commute with these.
using Centralizer = std::function<std::vector<Permutation>(std::span<const Permutation>)>;

/// An abelian group that acts freely on the first `points` points ("semiregular"), as large as was
/// found, but of no more than `most` elements. Permutations
/// may have further points. `generators` are of the group to search, and its centralizers are asked
/// for at most some dozens of times. Grown one element at a time, from products of generators that
/// look like swaps of equal parts (ordered products of these are cycles of the parts) and random
/// products, while the centralizer has the same orbits if possible: then a regular abelian group
/// of which this is a part isn't ruled out. Deterministic.
[[nodiscard]] CommutingGroup semiregular_commuting_group(std::span<const Permutation> generators,
                                                         std::size_t points, std::size_t most,
                                                         const Centralizer& centralizer);

/// The greatest order up to `most` that a semiregular group can have: orders divide the sizes of
/// all orbits.
[[nodiscard]] std::size_t most_semiregular_elements(std::span<const Permutation> generators,
                                                    std::size_t points, std::size_t most);

} // namespace tutti
