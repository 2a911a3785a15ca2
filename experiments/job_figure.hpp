// How much each job is slowed down by the others, one bar per plan.
#pragma once

#include "experiments/gnuplot.hpp"
#include "experiments/job_study.hpp"

namespace tutti {

/// Errors: InputError where no plan has a schedule.
[[nodiscard]] Figure job_figure(const JobStudyEvaluation& study);

} // namespace tutti
