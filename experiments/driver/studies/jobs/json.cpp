// Almost all of it stands in columns.
#include "experiments/driver/studies/jobs/json.hpp"

#include "experiments/driver/records/json.hpp"

#include <nlohmann/json.hpp>

namespace tutti {

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
