// How much each job is slowed down by the others, one bar per plan.
#pragma once

#include "experiments/driver/figures/gnuplot.hpp"
#include "experiments/driver/studies/jobs/study.hpp"

namespace tutti {

/// Errors: InputError where no plan has a schedule.
[[nodiscard]] Figure job_figure(const JobStudyEvaluation& study);

/// Network use of the plan with the least makespan; empty where none has a schedule. It points to
/// the topology.
[[nodiscard]] std::vector<NetworkUse> network_uses(const JobStudyEvaluation& study,
                                                   const Topology& topology);

} // namespace tutti
