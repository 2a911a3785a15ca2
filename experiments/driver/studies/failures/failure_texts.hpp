// What failures did, in words, for stories and JSON: when the network was cut, what never got on,
// how it ended, and what was decided on the way.
#pragma once

#include "experiments/driver/studies/failures/evaluation.hpp"
#include "sim/network_event.hpp"
#include "sim/report.hpp"
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

/// A line for each link that is down, with how many wait for it and since when it is so, then one
/// for each other reason. `events`: of the run.
[[nodiscard]] std::vector<std::string> stuck_texts(const Topology& topology,
                                                   std::span<const StuckTransfer> stuck,
                                                   std::span<const NetworkEvent> events);

/// "complete at 1.2 ms", "incomplete, the last delivery at 1.2 ms", "no destination lives". For
/// people.
[[nodiscard]] std::string ending_text(const Recovery& recovery);

/// Events, what is stuck, who misses what, and what each policy decided; empty unless the
/// evaluation is one run.
[[nodiscard]] std::string story(const FailureEvaluation& evaluation);

} // namespace tutti
