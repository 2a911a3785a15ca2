// [[jobs]] from its tables to what came of them.
#include "experiments/driver/studies/jobs/study.hpp"

#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/studies/jobs/figure.hpp"
#include "experiments/driver/studies/jobs/json.hpp"
#include "experiments/driver/studies/jobs/columns.hpp"
#include "experiments/driver/studies/jobs/table.hpp"
#include "experiments/driver/terminal/stage_display.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace tutti {

void require_sound(const JobStudy& study, Networks networks) {
  require_sound(study, networks[study.topology].topology);
}

namespace {

JobStudyEvaluation evaluate(JobStudy study, const StudyRun& how) {
  const LabelledTopology& network = how.networks[study.topology];
  InterruptibleWork work(how.interrupts, study.label, how.progress);
  work.watch(study.options);
  return evaluate_jobs(study, network.label, network.topology, how.refusals);
}

} // namespace

std::size_t JobStudy::case_count() const { return plans.size(); }

std::vector<RecordColumn> JobStudy::columns() { return job_records({}).columns; }

std::vector<std::string> JobStudy::table_columns() const { return job_table_columns(); }

namespace {

/// Row in job_records() of the job that is slowed down most, where there is only one plan.
std::optional<std::size_t> slowest_job(const JobStudyEvaluation& made) {
  if (made.plans.size() != 1 || made.plans.front().jobs.empty()) return std::nullopt;
  const std::vector<JobResult>& jobs = made.plans.front().jobs;
  const auto slowest = std::ranges::max_element(jobs, {}, &JobResult::slowdown);
  return static_cast<std::size_t>(slowest - jobs.begin());
}

} // namespace

StudyResult result_of(JobStudyEvaluation evaluation, const Topology& topology) {
  const auto made = std::make_shared<const JobStudyEvaluation>(std::move(evaluation));
  StudyResult result;
  result.files = {{"jobs", job_records({made.get(), 1})}};
  result.kind = JobStudy::kind;
  result.details = [made] { return job_details(*made); };
  result.story = [made](const TableForm& form) { return jobs_text(*made, form); };
  result.figures = [made] {
    std::vector<NamedFigure> figures;
    if (has_schedule(*made)) figures.push_back({file_stem("jobs", made->label), job_figure(*made)});
    return figures;
  };
  result.network_uses = [made, &topology] { return network_uses(*made, topology); };
  result.point = slowest_job(*made);
  for (const PlanEvaluation& plan : made->plans)
    if (plan.jobs.empty() && !result.unanswered) result.unanswered = {plan.status, plan.note};
  result.defects = problems_of(*made);
  result.nothing_made = nothing_made(*made);
  return result;
}

StudyResult run_study(const JobStudy& study, const StudyRun& how) {
  return result_of(evaluate(study, how), how.networks[study.topology].topology);
}

} // namespace tutti
