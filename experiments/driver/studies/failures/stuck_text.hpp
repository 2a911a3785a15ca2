// What never got on, in words: for stories and JSON.
#pragma once

#include "sim/network_event.hpp"
#include "sim/report.hpp"
#include "sim/topology.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// A line for each link that is down, with how many wait for it and since when it is so, then one
/// for each other reason. `events`: of the run.
[[nodiscard]] std::vector<std::string> stuck_texts(const Topology& topology,
                                                   std::span<const StuckTransfer> stuck,
                                                   std::span<const NetworkEvent> events);

} // namespace tutti
