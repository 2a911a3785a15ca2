// The fluid discipline on SimGrid; called by run_simgrid in its child process.
#pragma once

#include "sim/engines/engine.hpp"

namespace tutti {

[[nodiscard]] Report run_simgrid_fluid(const Topology& topology, const Collective& collective,
                                       const Schedule& schedule, const TimeModel& model,
                                       const RunOptions& options);

} // namespace tutti
