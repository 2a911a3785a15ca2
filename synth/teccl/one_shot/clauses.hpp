// An epoch problem as a question of satisfiability.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/solvers/sat.hpp"
#include "synth/teccl/problem.hpp"
#include "synth/teccl/symmetry.hpp"

#include <cstdint>

namespace tutti {

struct SatisfiedEpochs {
  SatAnswer answer = SatAnswer::unknown;
  EpochPlan plan; ///< where the answer is sat; keeps the symmetry
};

/// Whether there is a plan in so many epochs that keeps the symmetry (empty: none to keep), within
/// `conflicts` (negative: no such limit). Chunks with the same sources and destinations are
/// interchangeable: only plans in which they come in order are looked for. Memory: a variable for
/// each chosen chunk, lane or node, and epoch in which it can be of use there, and one clause for
/// each two or three of those that share a limit.
[[nodiscard]] SatisfiedEpochs satisfied_epochs(const EpochProblem& problem, std::uint32_t epochs,
                                               const ChunkSymmetry& symmetry,
                                               std::int64_t conflicts, const WorkLimit& limit);

} // namespace tutti
