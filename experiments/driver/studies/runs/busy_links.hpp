// What a report says of its links, in words.
#pragma once

#include "sim/report.hpp"
#include "sim/topology.hpp"

#include <string>

namespace tutti {

/// The busiest link of a report, `npu3>npu4 +2` where two more are as busy; empty without links.
[[nodiscard]] std::string hottest_link(const Topology& topology, const Report& report);

/// The same, or the name of the shared group that its links keep busy for longer.
[[nodiscard]] std::string bottleneck(const Topology& topology, const Report& report);
/// Links that carry nothing beside others of the same two nodes that do, in words: "idle parallel
/// links: 1 of 2 npu0>npu1". Empty where there are none.
[[nodiscard]] std::string idle_parallel_links(const Topology& topology, const Report& report);

} // namespace tutti
