// Jobs stand once, as they were asked for; each plan has a row for each of them, in the same order.
#include "experiments/driver/studies/jobs/json.hpp"

#include "experiments/driver/studies/runs/json.hpp"

#include <nlohmann/json.hpp>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

Json job_json(const Job& job) {
  return {{"name", job.name},
          {"collective", job.collective},
          {"size_bytes", job.size.count},
          {"chunks_per_shard", job.chunks ? Json(*job.chunks) : Json("auto")},
          {"start_ps", job.timing.start.ps},
          {"priority", job.timing.priority},
          {"algorithm", job.algorithm ? Json(job.algorithm->name) : Json(nullptr)}};
}

Json result_json(const Job& job, const JobResult& result) {
  return {{"job", job.name},
          {"chunks_per_shard", result.chunks},
          {"chunks_chosen", !job.chunks.has_value()},
          {"alone_ps", result.alone.ps},
          {"in_company_ps", result.in_company.ps},
          {"slowdown", result.slowdown()},
          {"lower_bound_ps", result.bound.ps},
          {"algbw_bytes_per_s", result.algbw}};
}

Json plan_json(const JobStudyEvaluation& study, const PlanEvaluation& plan) {
  Json jobs = Json::array();
  for (std::size_t j = 0; j < plan.jobs.size(); ++j)
    jobs.push_back(result_json(study.jobs[j], plan.jobs[j]));
  const bool ran = !plan.jobs.empty();
  return {{"plan", plan.plan},
          {"note", text_or_null(plan.note)},
          {"jobs", std::move(jobs)},
          {"makespan_ps", ran ? Json(plan.makespan.ps) : Json(nullptr)},
          {"makespan_lower_bound_ps", ran ? Json(plan.bound.ps) : Json(nullptr)},
          {"mean_slowdown", ran ? Json(plan.mean_slowdown) : Json(nullptr)},
          {"problem", text_or_null(plan.problem)},
          {"synthesis_seconds", plan.synthesis_seconds},
          {"replay_seconds", plan.replay_seconds}};
}

} // namespace

Json jobs_json(const JobStudyEvaluation& study) {
  Json jobs = Json::array(), plans = Json::array();
  for (const Job& job : study.jobs) jobs.push_back(job_json(job));
  for (const PlanEvaluation& plan : study.plans) plans.push_back(plan_json(study, plan));
  return {{"label", text_or_null(study.label)},
          {"topology", study.topology},
          {"npus", study.npus},
          {"engines", study.engines},
          {"link_busy", to_text(study.model.link_busy)},
          {"forwarding", to_text(study.model.forwarding)},
          {"jobs", std::move(jobs)},
          {"plans", std::move(plans)}};
}

} // namespace tutti
