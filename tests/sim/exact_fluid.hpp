// Fluid sharing in its plainest form, in exact rational numbers: at every event rates are filled
// anew until a link or group is full (progressive filling: Bertsekas and Gallager 1992, "Data
// networks", section 6.5.2). Shares nothing with sim/engines but the types of its options.
#pragma once

#include "sim/engines/engine.hpp"

#include <vector>

namespace tutti::testing {

/// Per transfer: when it is delivered, in ps. For some dozen transfers without reduction rates.
[[nodiscard]] std::vector<double> exact_fluid(const Topology& topology,
                                              const Collective& collective,
                                              const Schedule& schedule, const RunOptions& options);

} // namespace tutti::testing
