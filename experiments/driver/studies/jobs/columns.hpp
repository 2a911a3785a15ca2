// Jobs on one network as columns: the records of CSV and JSON, and what people see of them.
#pragma once

#include "experiments/driver/studies/jobs/study.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace tutti {

/// One row per plan and job: by plan, then by job.
[[nodiscard]] Records job_records(const JobStudyEvaluation& study);

/// Details of each of these rows: the algorithm that the job itself names, whether its number of
/// chunks was chosen by Tutti, what is wrong with its plan.
[[nodiscard]] nlohmann::ordered_json job_details(const JobStudyEvaluation& study);

/// A line about the study, then for each plan its jobs, the time of all and its bound.
[[nodiscard]] std::string jobs_text(const JobStudyEvaluation& study, const TableForm& form = {});

/// How --columns may call what the table has.
[[nodiscard]] std::vector<std::string> job_table_columns();

} // namespace tutti
