// A schedule as a picture (TACOS paper, Fig. 15): one panel for each instant at which transfers
// start, with what every NPU holds by then and what starts to move where; the last panel is the
// end.
#pragma once

#include "experiments/driver/figures/picture.hpp"
#include "experiments/driver/figures/style.hpp"
#include "sim/collective.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

namespace tutti {

/// Nodes stand where their network's layout (layout/layout.hpp) has them. Pre: the report is of
/// this schedule, with deliveries and hops.
/// Errors: InputError for more than 64 nodes, 64 chunks or 48 steps: nobody could read it.
[[nodiscard]] Figure schedule_figure(const Heading& heading, const Topology& topology,
                                     const Collective& collective, const Schedule& schedule,
                                     const Report& report);

} // namespace tutti
