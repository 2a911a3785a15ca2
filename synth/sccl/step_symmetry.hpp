// Symmetries of a k-synchronous problem: what may be exchanged without changing it.
#pragma once

#include "synth/sccl/step_problem.hpp"
#include "synth/solvers/automorphisms.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Where nodes, lanes, limits and chunks go; holders and wanters of a chunk go to those of its
/// image, the lanes of a limit to those of a limit as wide.
struct StepAutomorphism {
  Permutation nodes, lanes, limits, chunks;
};

/// Generators of all of them.
[[nodiscard]] std::vector<StepAutomorphism> automorphisms(const StepProblem& problem);

/// A group of automorphisms that lets no lane and no chunk that is wanted in its place, the
/// identity first: a schedule that it keeps is known from its sends of one chunk of each orbit.
using StepSymmetry = std::vector<StepAutomorphism>;

/// Such groups, the largest first, of equal ones those that commute first, at most `most`; none of
/// only one element. Of a unicast problem, nodes must move too.
[[nodiscard]] std::vector<StepSymmetry>
free_symmetries(const StepProblem& problem, std::span<const StepAutomorphism> generators,
                std::size_t most);

/// One chunk of each orbit of those that are wanted, ascending.
[[nodiscard]] std::vector<std::uint32_t> representatives(const StepProblem& problem,
                                                         const StepSymmetry& symmetry);

} // namespace tutti
