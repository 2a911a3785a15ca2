// Whether there is a plan in K epochs, as a question of satisfiability: what finds the smallest K,
// and gives the integer program something to start from.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/teccl/answer.hpp"

namespace tutti {

struct EpochEffort {
  std::int64_t conflicts = 200'000; ///< of a question, at most: the same on every machine
  bool symmetric = true;            ///< try plans that keep automorphisms first
};

/// feasible with a plan, infeasible (proven) or timed_out. After fewest_epochs(), plans that keep a
/// group of the problem's automorphisms are tried, from the largest group on, with few conflicts
/// each, then with an eighth; only the question without symmetry can prove then that there is none.
[[nodiscard]] EpochAnswer decide_epochs(const EpochProblem& problem, std::uint32_t epochs,
                                        const EpochEffort& effort, const WorkLimit& limit);

} // namespace tutti
