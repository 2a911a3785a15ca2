// Every lower bound there is: those of sim/ and those that programs of flows give.
#pragma once

#include "synth/bounds/bounds.hpp"

#include <vector>

namespace tutti {

/// lower_bounds(), then flow_bounds(); best_of() is what reports hold times against.
/// Errors: as lower_bounds().
[[nodiscard]] std::vector<Bound> all_bounds(const Topology& topology, const Collective& collective,
                                            const TimeModel& model, Chunking chunking);

} // namespace tutti
