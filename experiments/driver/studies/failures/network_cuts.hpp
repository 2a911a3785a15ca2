// Networks that events cut in two or more.
#pragma once

#include "sim/network_event.hpp"
#include "sim/topology.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// One line each time that NPUs which are alive can't all reach each other any more, or are divided
/// otherwise than before: "8.055 ms: the network is cut: npu0, npu3 | npu1, npu2". NPUs stand
/// together if each reaches the other. Pre: events as sorted_events() gives them.
[[nodiscard]] std::vector<std::string> network_cuts(const Topology& topology,
                                                    std::span<const NetworkEvent> events);

} // namespace tutti
