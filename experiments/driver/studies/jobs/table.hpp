// Jobs that share a network, for people: the tables on the terminal and the rows of jobs.csv.
#pragma once

#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/jobs/study.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// A line about the study, then for each plan its jobs, the time of all and its bound.
[[nodiscard]] std::string jobs_text(const JobStudyEvaluation& study, const TableForm& form = {});

/// How --columns may call what the table has.
[[nodiscard]] std::vector<std::string> job_table_columns();

} // namespace tutti
