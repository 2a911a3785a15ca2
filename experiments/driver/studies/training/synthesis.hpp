// The synthesis that the planning of workloads is handed: Tutti's algorithms, its choice of chunks,
// its bounds, and a folder of remembered schedules.
#pragma once

#include "workloads/planning/planning.hpp"

#include <string>

namespace tutti {

/// For plan_workload() and resynthesized() with the same options. `cache`: folder of remembered
/// schedules; empty: none.
/// Errors: InputError for a setting that no algorithm of the options has.
[[nodiscard]] WorkloadSynthesis synthesis_for(const PlanningOptions& options,
                                              const std::string& cache = {});

} // namespace tutti
