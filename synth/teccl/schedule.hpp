// Plans in epochs as schedules.
#pragma once

#include "sim/schedule.hpp"
#include "synth/teccl/problem.hpp"

#include <cstdint>

namespace tutti {

/// The plan as a list of transfers by epoch. What a switch that doesn't copy passes on is one
/// transfer with the whole path; where one that copies does, the transfer ends there and others
/// begin (only for the first time that it copies this chunk: later each has the whole path, since
/// for a schedule the switch has the chunk already). Useless sends are left out. Replayed on a
/// network without switches and shared groups it takes at most epochs_of() * epoch where no latency
/// was rounded down. Pre: epoch_fault() is empty.
[[nodiscard]] Schedule as_schedule(const EpochProblem& problem, const EpochPlan& plan,
                                   std::uint32_t link_count);

} // namespace tutti
