// The transfers of a schedule, placed in epochs: a first plan, and an upper bound on K.
#pragma once

#include "sim/schedule.hpp"
#include "synth/teccl/problem.hpp"

#include <optional>

namespace tutti {

/// The transfers of any correct schedule without reductions in epochs, each as early as the ones
/// before it in the list leave it: a first plan, and an upper bound on K. On the way through nodes
/// that store, chunks stay there, and hops to where a chunk is already are left out, as is what
/// nobody needs in the end. Nothing where it doesn't fit the problem: lanes through switches that
/// it doesn't have, a buffer limit. `latest`: gives up where anything arrives later, needed or not.
/// Cost: O(hops * epochs that are tried * windows).
[[nodiscard]] std::optional<EpochPlan> as_plan(const EpochProblem& problem,
                                               const Schedule& schedule, Epoch latest);

} // namespace tutti
