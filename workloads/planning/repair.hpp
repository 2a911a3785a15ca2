// A workload on a network where links have failed before it begins: what its plans become by
// policy. The run itself happens on the whole network, with those links down from the start.
#pragma once

#include "sim/ids.hpp"
#include "sim/iteration.hpp"
#include "sim/network_event.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/workload.hpp"
#include "workloads/planning/planning.hpp"

#include <span>
#include <vector>

namespace tutti {

/// The links go down at time 0, for IterationOptions::events. Errors: InputError for one that isn't
/// there, or is named twice.
[[nodiscard]] std::vector<NetworkEvent> links_down(const Topology& topology,
                                                   std::span<const LinkId> failed);

/// The same plans, but that paths over failed links are replaced by the shortest that are left in
/// the whole network (as Policy::reroute does); verified again. Plans that use none stay shared.
/// Errors: InputError where the ends of a path are cut apart, as links_down().
[[nodiscard]] WorkloadPlans rerouted(const Topology& topology, const WorkloadPlans& plans,
                                     std::span<const LinkId> failed, const TimeModel& model);

/// plan_workload() on the network without the failed links, with plans in the numbers of the whole
/// one. Where a plan of `before` with detours, as rerouted() has it, is faster than the new one
/// (each alone), it stays: a group's own part of the network may have lost more than its neighbours
/// can lend. Errors: as plan_workload(), also where a member is cut off; as links_down().
[[nodiscard]] WorkloadPlanning resynthesized(const Topology& topology, const Workload& workload,
                                             const PlanningOptions& options,
                                             const WorkloadSynthesis& synthesis,
                                             const WorkloadPlans& before,
                                             std::span<const LinkId> failed);

} // namespace tutti
