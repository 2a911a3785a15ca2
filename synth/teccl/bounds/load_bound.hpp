// How few epochs can be enough for what limits have to carry in all, whenever that is.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/teccl/flows/orbits.hpp"

#include <cstdint>
#include <span>

namespace tutti {

/// Fewer epochs are impossible: flows without time that keep the most loaded limit least loaded, by
/// a linear program without epochs. At least `at_least`, which must be a lower bound. Pre: everyone
/// is in reach.
[[nodiscard]] std::uint32_t epochs_by_load(const EpochProblem& problem,
                                           std::span<const EpochSource> sources,
                                           const EpochFlowOrbits& orbits, std::uint32_t at_least,
                                           const WorkLimit& limit);

} // namespace tutti
