// What a plan comes to as a whole, its makespan and mean slowdown, stands in the row of each job.
// For people, a line for each plan follows the rows: what it costs the jobs on average, and when
// all are done. Almost all of JSON stands in columns.
#include "experiments/driver/studies/jobs/columns.hpp"

#include "experiments/driver/records/json.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "experiments/driver/studies/shared_columns.hpp"
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
  using namespace column_words;
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
      {shared("label"), [](const R& r) { return r.study->label; }},
      {shared("topology"), [](const R& r) { return r.study->topology; }},
      {shared("npus"), [](const R& r) { return r.study->npus; }},
      {shared("engine"), [](const R& r) { return joined(r.study->engines, "+"); }},
      {shared("link_busy"), [](const R& r) { return to_text(r.study->model.link_busy); }},
      {shared("forwarding"), [](const R& r) { return to_text(r.study->model.forwarding); }},
      {{"plan", text, key, always,
        "How all jobs got their schedules: `ring`: each by this algorithm, as if it were alone; "
        "`tacos, together`: one synthesis for all"},
       [](const R& r) { return r.plan->plan; }},
      {shared("status", "`feasible` where the plan has schedules for all jobs; `defect`, and what "
                        "else may end it, as for runs"),
       [](const R& r) {
         if (!r.plan->problem.empty()) return Cell("defect");
         return Cell(to_text(r.result ? Status::feasible : r.plan->status));
       }},
      {shared("note", "Why the plan has no schedules, in words; null where it has. A defect stands "
                      "in `problem` of the JSON"),
       [](const R& r) { return r.plan->note; }},
      {{"job", text, key, always, "Name of the job"}, [](const R& r) { return r.job->name; }},
      {shared("collective"), [](const R& r) { return r.job->collective; }},
      {shared("size_bytes", "Size of the job's collective as nccl-tests prints it"),
       [](const R& r) { return r.job->size; }},
      {shared(
           "chunks_per_shard",
           "K of the job: number of chunks that a shard is cut into; null where that isn't known"),
       [](const R& r) {
         if (r.job->chunks) return Cell(*r.job->chunks);
         return r.result ? Cell(r.result->chunks) : Cell();
       }},
      {{"start_ps", time, key, always, "Time at which the job starts"},
       [](const R& r) { return r.job->timing.start; }},
      {{"priority", count, key, always,
        "0 to 7; of transfers that wait for a link, those of the highest priority go first, "
        "without preemption"},
       [](const R& r) { return r.job->timing.priority; }},
      {{"alone_time_ps", time, metric, sometimes,
        "Time from the start of the job to its last delivery, alone on the network, by the same "
        "algorithm",
        0, "alone"},
       of_result([](const J& j) { return j.alone; })},
      {shared("collective_time_ps",
              "Time from the start of the job to its last delivery, among the other jobs")
           .shown(0, "in company"),
       of_result([](const J& j) { return j.in_company; })},
      {{"slowdown", ratio, metric, sometimes, "`collective_time_ps / alone_time_ps`"},
       of_result([](const J& j) { return j.slowdown(); })},
      {shared("lower_bound_ps", "Best lower bound of the job's collective alone on the network"),
       of_result([](const J& j) { return j.bound; })},
      {shared("algbw_bytes_per_s"), of_result([](const J& j) { return j.algbw; })},
      {{"makespan_ps", time, metric, sometimes,
        "Time from the first start of any job to the last delivery of all"},
       of_plan([](const P& p) { return p.makespan; })},
      {{"makespan_lower_bound_ps", time, metric, sometimes,
        "No schedule of the collectives of all jobs at once takes less"},
       of_plan([](const P& p) { return p.bound; })},
      {{"mean_slowdown", ratio, metric, sometimes,
        "Geometric mean of `slowdown` over the jobs of the plan"},
       of_plan([](const P& p) { return p.mean_slowdown; })},
      {shared("synthesis_seconds",
              "CPU time of the synthesis of all schedules of the plan, in each row of it"),
       [](const R& r) { return r.plan->synthesis_seconds; }},
      {shared("replay_seconds",
              "CPU time of all replays of the plan, alone and together, in each row of it"),
       [](const R& r) { return r.plan->replay_seconds; }}};
}

/// Groups may be long lists.
std::string shortened(const std::string& collective) {
  constexpr std::size_t most = 32;
  return collective.size() <= most ? collective : collective.substr(0, most - 3) + "...";
}

std::vector<ShownColumn> shown_columns() {
  return {
      {"plan"},     {"job"},         {"collective", 3}, {"size", 4},         {"chunks/shard", 7},
      {"start", 5}, {"priority", 6}, {"alone_time", 1}, {"collective_time"}, {"slowdown"},
      {"algbw", 2}};
}

/// What a table says otherwise than a record, then all of the record.
Fields<JobRow> table_fields() {
  using namespace column_words;
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
