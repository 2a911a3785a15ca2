// Sums of literals in clauses.
#pragma once

#include "synth/solvers/sat.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Totalizer (Bailleux and Boufkhad 2003): literals o[0] .. o[m-1], m = min(size, most), where at
/// least k + 1 true inputs imply o[k]; the other direction isn't encoded, so that only upper limits
/// can be set on the sum. `most` outputs are enough to say "at most `most` - 1". An input may occur
/// several times and then counts as often. O(size * most) clauses each level.
[[nodiscard]] std::vector<Literal> totalized(SatSolver& solver, std::span<const Literal> inputs,
                                             std::uint32_t most);

/// At most `bound` of the inputs are true.
void at_most(SatSolver& solver, std::span<const Literal> inputs, std::uint32_t bound);

/// At most one of them is true; pairwise up to six, else by commander variables.
void at_most_one(SatSolver& solver, std::span<const Literal> inputs);

} // namespace tutti
