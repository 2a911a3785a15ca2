// Between plans in epochs and schedules.
#pragma once

#include "sim/schedule.hpp"
#include "synth/teccl/problem.hpp"

namespace tutti {

/// The plan as a list of transfers by epoch. What a switch that doesn't copy passes on is one
/// transfer with the whole way; where one that copies does, the transfer ends there and others
/// begin (only for the first time that it copies this chunk: later each has the whole way, since
/// for a schedule the switch has the chunk already). Useless sends are left out. Replayed on a
/// network without switches and shared groups it takes at most epochs_of() * epoch where no latency
/// was rounded down. Pre: epoch_fault() is empty.
[[nodiscard]] Schedule as_schedule(const EpochProblem& problem, const EpochPlan& plan,
                                   std::uint32_t link_count);

/// The transfers of any correct schedule without reductions in epochs, each as early as the ones
/// before it in the list leave it: a first plan, and an upper bound on K. On the way through nodes
/// that store, chunks stay there, and hops to where a chunk is already are left out, as is what
/// nobody needs in the end. Nothing where it doesn't fit the problem: lanes through switches that
/// it doesn't have, a buffer limit. `latest`: gives up where anything arrives later, needed or not.
/// Cost: O(hops * epochs that are tried * windows).
[[nodiscard]] std::optional<EpochPlan> as_plan(const EpochProblem& problem,
                                               const Schedule& schedule, std::uint32_t latest);

} // namespace tutti
