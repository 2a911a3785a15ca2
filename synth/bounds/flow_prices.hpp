// Lower bounds from flow programs, for every report.
#pragma once

#include "synth/bounds/bounds.hpp"

#include <vector>

namespace tutti {

/// What prices on bandwidth prove (price_bound.hpp; prices from solve_flow_program) under this time
/// model; nothing where the program would be too large. Kind: flow_prices. Deterministic: limited
/// in size, not in time.
[[nodiscard]] std::vector<Bound> flow_bounds(const Topology& topology, const Collective& collective,
                                             const TimeModel& model,
                                             Chunking chunking = Chunking::any);

} // namespace tutti
