// One instance whose chunks may have several destinations, as a question of satisfiability.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/sccl/problem.hpp"
#include "synth/sccl/symmetry.hpp"

namespace tutti {

/// Is there a schedule, or, with a symmetry, one that it keeps (then only `sat` says something
/// about all schedules)? After Cai et al. 2021, sec. 3.4, with other variables: has[chunk, node,
/// step], monotone, and sends[chunk, lane, step], where steps too early for the chunk or too late
/// for anyone are left out; at most one receipt of a chunk at a node (C3); sums over the lanes of a
/// limit by totalizers that are tied to rounds in order encoding (C5, C6). With a symmetry, one
/// chunk of each orbit has variables, and one limit of each orbit clauses. Pre: rounds >= steps >=
/// 1.
[[nodiscard]] StepAnswer multicast_steps(const StepProblem& problem, const StepInstance& instance,
                                         const StepSymmetry& symmetry, const StepSearch& search,
                                         const WorkLimit& limit);

} // namespace tutti
