// Jobs on one network as records.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/jobs/study.hpp"

#include <span>
#include <vector>

namespace tutti {

struct JobRow {
  const JobStudyEvaluation* study;
  const PlanEvaluation* plan;
  const Job* job;
  const JobResult* result; ///< null: the plan has no schedule
};
[[nodiscard]] Fields<JobRow> job_fields();
/// By plan, then by job.
[[nodiscard]] std::vector<JobRow> job_rows(const JobStudyEvaluation& study);

/// One row per plan and job.
[[nodiscard]] Records job_records(std::span<const JobStudyEvaluation> studies);

} // namespace tutti
