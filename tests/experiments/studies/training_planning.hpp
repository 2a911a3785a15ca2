// Planning with the synthesis that the driver hands in.
#pragma once

#include "experiments/driver/studies/training/synthesis.hpp"
#include "workloads/planning/repair.hpp"

#include <span>
#include <string>

namespace tutti::samples {

inline WorkloadPlanning planned(const Topology& topology, const Workload& workload,
                                const PlanningOptions& options, const std::string& cache = {}) {
  return plan_workload(topology, workload, options, synthesis_for(options, cache));
}

inline WorkloadPlanning planned_anew(const Topology& topology, const Workload& workload,
                                     const PlanningOptions& options, const WorkloadPlans& before,
                                     std::span<const LinkId> failed) {
  return resynthesized(topology, workload, options, synthesis_for(options), before, failed);
}

} // namespace tutti::samples
