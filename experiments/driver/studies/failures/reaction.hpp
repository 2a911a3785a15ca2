// What recover() is asked of a case: when it answers, and what it plans with.
#pragma once

#include "experiments/driver/studies/failures/evaluation.hpp"
#include "sim/repair/recovery.hpp"
#include "sim/synthesizer.hpp"

#include <optional>

namespace tutti {

/// Schedule of the outcome as a list, moved out of it or expanded from the compact form; nothing
/// where there is none.
[[nodiscard]] std::optional<Schedule> schedule_of(const Topology& topology,
                                                  const Collective& collective, Outcome& outcome);

/// Without watch, bound and starts. Plans are made by the case's planner, or by fallback_planner
/// where that is unsupported, as `planning` says, which must outlive it.
[[nodiscard]] Reaction reaction_of(const FailureCase& c, Policy policy,
                                   const SynthesisOptions& planning);

/// Whether whoever waits has had enough.
[[nodiscard]] bool is_cancelled(const FailureCase& c);

} // namespace tutti
