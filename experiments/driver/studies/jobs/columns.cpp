// What a plan comes to as a whole, its makespan and mean slowdown, stands in the row of each job.
// For people, a line for each plan follows the rows: what it costs the jobs on average, and when
// all are done. Almost all of JSON stands in columns.
#include "experiments/driver/studies/jobs/columns.hpp"

#include "experiments/driver/records/json.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tutti {

namespace {

struct JobRow {
  const JobStudyEvaluation* study;
  const PlanEvaluation* plan;
  const Job* job;
  const JobResult* result; ///< null: the plan has no schedule
};

std::vector<JobRow> job_rows(const JobStudyEvaluation& study) {
  std::vector<JobRow> rows;
  for (const PlanEvaluation& plan : study.plans)
    for (std::size_t j = 0; j < study.jobs.size(); ++j)
      rows.push_back({&study, &plan, &study.jobs[j], plan.jobs.empty() ? nullptr : &plan.jobs[j]});
  return rows;
}

Fields<JobRow> job_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = JobRow;
  const auto of_result = [](auto value) {
    return [value](const R& r) { return r.result ? Cell(value(*r.result)) : Cell(); };
  };
  const auto of_plan = [](auto value) {
    return [value](const R& r) { return r.result ? Cell(value(*r.plan)) : Cell(); };
  };
  using J = JobResult;
  using P = PlanEvaluation;
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
      {{"chunks_per_shard", count, metric},
       [](const R& r) {
         if (r.job->chunks) return Cell(*r.job->chunks);
         return r.result ? Cell(r.result->chunks) : Cell();
       }},
      {{"start_ps", time, key}, [](const R& r) { return r.job->timing.start; }},
      {{"priority", count, key}, [](const R& r) { return r.job->timing.priority; }},
      {{"alone_time_ps", time, metric}, of_result([](const J& j) { return j.alone; })},
      {{"collective_time_ps", time, metric}, of_result([](const J& j) { return j.in_company; })},
      {{"slowdown", ratio, metric}, of_result([](const J& j) { return j.slowdown(); })},
      {{"lower_bound_ps", time, metric}, of_result([](const J& j) { return j.bound; })},
      {{"algbw_bytes_per_s", rate, metric}, of_result([](const J& j) { return j.algbw; })},
      {{"makespan_ps", time, metric}, of_plan([](const P& p) { return p.makespan; })},
      {{"makespan_lower_bound_ps", time, metric}, of_plan([](const P& p) { return p.bound; })},
      {{"mean_slowdown", ratio, metric}, of_plan([](const P& p) { return p.mean_slowdown; })},
      {{"synthesis_seconds", effort, cost}, [](const R& r) { return r.plan->synthesis_seconds; }},
      {{"replay_seconds", effort, cost}, [](const R& r) { return r.plan->replay_seconds; }}};
}

/// Groups may be long lists.
std::string shortened(const std::string& collective) {
  constexpr std::size_t most = 32;
  return collective.size() <= most ? collective : collective.substr(0, most - 3) + "...";
}

std::vector<ShownColumn> shown_columns() {
  return {{"plan"},
          {"job"},
          {"collective", "", 3},
          {"size", "", 4},
          {"chunks/shard", "", 7},
          {"start", "", 5},
          {"priority", "", 6},
          {"alone_time", "alone", 1},
          {"collective_time", "in company"},
          {"slowdown"},
          {"algbw", "", 2}};
}

/// What a table says otherwise than a record, then all of the record.
Fields<JobRow> table_fields() {
  using enum Quantity;
  using R = JobRow;
  Fields<R> fields{{{"collective", text}, [](const R& r) { return shortened(r.job->collective); }},
                   {{"chunks/shard", numeral}, [](const R& r) {
                      return r.result ? Cell(chunks_text(r.result->chunks, !r.job->chunks))
                                      : Cell();
                    }}};
  extend(fields, job_fields());
  return fields;
}

std::string summary_text(const PlanEvaluation& plan) {
  if (plan.jobs.empty())
    return fmt::format("{}: {}\n", plan.plan, plan.note.empty() ? plan.problem : plan.note);
  std::string text = fmt::format("{}: all done after {}", plan.plan, short_text(plan.makespan));
  if (plan.bound.ps > 0)
    text += fmt::format(
        ", {} the bound of all at once",
        ratio_text(static_cast<double>(plan.makespan.ps) / static_cast<double>(plan.bound.ps)));
  text += fmt::format("; mean slowdown {}\n", ratio_text(plan.mean_slowdown));
  if (!plan.problem.empty()) text += fmt::format("DEFECT: {}\n", plan.problem);
  if (!plan.remark.empty()) text += fmt::format("{}\n", plan.remark);
  return text;
}

} // namespace

Records job_records(const JobStudyEvaluation& study) {
  return records_of<JobRow>(job_fields(), job_rows(study));
}

std::string jobs_text(const JobStudyEvaluation& study, const TableForm& form) {
  std::string text = study.label.empty() ? "" : study.label + ": ";
  text += fmt::format("{} ({} NPUs), {} jobs\n{}\n", study.topology, study.npus, study.jobs.size(),
                      simulation_text(joined(study.engines, " and "), study.model));
  std::vector<JobRow> rows = job_rows(study);
  std::erase_if(rows, [](const JobRow& row) { return row.result == nullptr; }); // reported below
  if (!rows.empty())
    text += to_text(records_table(records_of<JobRow>(table_fields(), rows), shown_columns(), form),
                    form);
  for (const PlanEvaluation& plan : study.plans) text += summary_text(plan);
  return text;
}

std::vector<std::string> job_table_columns() {
  return column_names(records_of<JobRow>(table_fields(), {}).columns, shown_columns());
}

nlohmann::ordered_json job_details(const JobStudyEvaluation& study) {
  using Json = nlohmann::ordered_json;
  Json details = Json::array();
  for (const PlanEvaluation& plan : study.plans)
    for (const Job& job : study.jobs)
      details.push_back({{"algorithm", job.algorithm ? Json(job.algorithm->name) : Json(nullptr)},
                         {"chunks_chosen", !job.chunks.has_value()},
                         {"problem", text_or_null(plan.problem)}});
  return details;
}

} // namespace tutti
