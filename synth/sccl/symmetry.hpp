// Automorphisms of a k-synchronous problem.
#pragma once

#include "synth/sccl/problem.hpp"
#include "synth/timed/symmetry.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace tutti {

/// The lanes of a limit go to those of a limit as wide.
using StepAutomorphism = ChunkAutomorphism;

/// Generators of all of them; none for networks with over 100,000 lanes, which would take minutes.
[[nodiscard]] std::vector<StepAutomorphism> automorphisms(const StepProblem& problem);

/// A schedule that it keeps is known from its sends of one chunk of each orbit.
using StepSymmetry = ChunkSymmetry;

/// Groups of automorphisms that act freely on lanes and demanded chunks, of a unicast problem on
/// nodes too; see timed/symmetry. Errors: LimitReached.
[[nodiscard]] std::vector<StepSymmetry>
free_symmetries(const StepProblem& problem, std::span<const StepAutomorphism> generators,
                std::size_t most, const WorkLimit& limit = {});

} // namespace tutti
