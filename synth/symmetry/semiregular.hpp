// Semiregular subgroups, which act freely: symmetries that a schedule can have without a fixed
// point.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/symmetry/permutations.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace tutti {

/// Subgroups that act freely on the first `points` points: no element but the identity fixes one
/// ("semiregular"; further points may be fixed, and are mapped by the group's elements), as
/// the lists of all their elements by where they take point 0, so identity first; the largest
/// first, at most `most_groups`, none of order 1. Where more were found than are asked for, as many
/// orders as possible are among them, and then as many as possible that aren't conjugate. Built
/// from cyclic ones among up to `most_elements` elements of the group (seeded random products, and
/// powers of these, where there are more), extended by one element at a time, the largest group
/// first, within a fixed amount of work (below 0.1 s). A regular one, with as many elements as
/// points, comes first where one was found. Deterministic. Errors: LimitReached.
[[nodiscard]] std::vector<std::vector<Permutation>>
semiregular_subgroups(std::span<const Permutation> generators, std::size_t points,
                      std::size_t most_elements, std::size_t most_groups,
                      const WorkLimit& limit = {});

} // namespace tutti
