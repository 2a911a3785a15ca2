// What a plan comes to as a whole, its makespan and mean slowdown, stands in the row of each job.
#include "experiments/driver/studies/jobs/columns.hpp"

#include "sim/text.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tutti {

namespace {

Cell chunks_of(const JobRow& row) {
  if (row.job->chunks) return *row.job->chunks;
  return row.result == nullptr ? Cell() : row.result->chunks;
}

Fields<JobRow> case_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = JobRow;
  return {
      {{"label", text, key}, [](const R& r) { return r.study->label; }},
      {{"topology", text, key}, [](const R& r) { return r.study->topology; }},
      {{"npus", count, key}, [](const R& r) { return r.study->npus; }},
      {{"engine", text, key}, [](const R& r) { return joined(r.study->engines, "+"); }},
      {{"link_busy", text, key}, [](const R& r) { return to_text(r.study->model.link_busy); }},
      {{"forwarding", text, key}, [](const R& r) { return to_text(r.study->model.forwarding); }},
      {{"plan", text, key}, [](const R& r) { return r.plan->plan; }},
      {{"status", text, note},
       [](const R& r) {
         if (!r.plan->problem.empty()) return Cell("defect");
         return Cell(to_text(r.result ? Status::feasible : r.plan->status));
       }},
      {{"note", text, note}, [](const R& r) { return r.plan->note; }},
      {{"job", text, key}, [](const R& r) { return r.job->name; }},
      {{"collective", text, key}, [](const R& r) { return r.job->collective; }},
      {{"size_bytes", bytes, key}, [](const R& r) { return r.job->size; }},
      {{"chunks_per_shard", count, metric}, chunks_of},
      {{"start_ps", time, key}, [](const R& r) { return r.job->timing.start; }},
      {{"priority", count, key}, [](const R& r) { return r.job->timing.priority; }}};
}

Fields<JobResult> result_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = JobResult;
  return {{{"alone_time_ps", time, metric}, [](const R& r) { return r.alone; }},
          {{"collective_time_ps", time, metric}, [](const R& r) { return r.in_company; }},
          {{"slowdown", ratio, metric}, [](const R& r) { return r.slowdown(); }},
          {{"lower_bound_ps", time, metric}, [](const R& r) { return r.bound; }},
          {{"algbw_bytes_per_s", rate, metric}, [](const R& r) { return r.algbw; }}};
}

Fields<PlanEvaluation> plan_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using P = PlanEvaluation;
  return {{{"makespan_ps", time, metric}, [](const P& p) { return p.makespan; }},
          {{"makespan_lower_bound_ps", time, metric}, [](const P& p) { return p.bound; }},
          {{"mean_slowdown", ratio, metric}, [](const P& p) { return p.mean_slowdown; }}};
}

Fields<JobRow> cost_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = JobRow;
  return {
      {{"synthesis_seconds", effort, cost}, [](const R& r) { return r.plan->synthesis_seconds; }},
      {{"replay_seconds", effort, cost}, [](const R& r) { return r.plan->replay_seconds; }}};
}

} // namespace

Fields<JobRow> job_fields() {
  Fields<JobRow> fields = case_fields();
  extend(fields, fields_through<JobRow>(result_fields(), [](const JobRow& r) { return r.result; }));
  extend(fields, fields_through<JobRow>(plan_fields(), [](const JobRow& r) {
           return r.result == nullptr ? nullptr : r.plan;
         }));
  extend(fields, cost_fields());
  return fields;
}

std::vector<JobRow> job_rows(const JobStudyEvaluation& study) {
  std::vector<JobRow> rows;
  for (const PlanEvaluation& plan : study.plans)
    for (std::size_t j = 0; j < study.jobs.size(); ++j)
      rows.push_back({&study, &plan, &study.jobs[j], plan.jobs.empty() ? nullptr : &plan.jobs[j]});
  return rows;
}

Records job_records(std::span<const JobStudyEvaluation> studies) {
  std::vector<JobRow> rows;
  for (const JobStudyEvaluation& study : studies)
    for (const JobRow& row : job_rows(study)) rows.push_back(row);
  return records_of<JobRow>(job_fields(), rows);
}

} // namespace tutti
