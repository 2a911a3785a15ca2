// A sweep over the ranks of an MPI job: rank 0 owns the store and tells the others which points to
// simulate; all simulate, each in processes of its own. The other ranks need the sweep's file, not
// the store's.
#pragma once

#include "experiments/driver/sweep/coordinator.hpp"

#include <optional>

namespace tutti::sweep {

/// Initialises MPI and finalises it, so call it once in a process. `options.jobs`:
/// of each rank. On rank 0 the outcome, elsewhere nothing. An InputError of any rank is raised on
/// rank 0, and all end. No rank waits busily.
[[nodiscard]] std::optional<SweepOutcome> sweep_with_mpi(const Sweep& sweep,
                                                         const SweepOptions& options);
[[nodiscard]] std::optional<SweepOutcome>
sweep_with_mpi(const Sweep& sweep, const SweepOptions& options, const SweepParts& parts);

} // namespace tutti::sweep
