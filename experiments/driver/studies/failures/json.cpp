// What no column has: every decision with its causes, and what is missing or stuck in words.
// Progress and draws are written for a single run only; in a sweep they would be most of the file.
#include "experiments/driver/studies/failures/json.hpp"

#include "experiments/driver/records/json.hpp"
#include "experiments/driver/studies/failures/columns.hpp"
#include "experiments/driver/studies/runs/json.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

Json progress_json(std::span<const ProgressPoint> progress) {
  Json points = Json::array();
  for (const ProgressPoint& point : progress)
    points.push_back({{"at_ps", point.at.ps}, {"bytes", point.in_place.count}});
  return points;
}

Json decision_json(const Decision& decision) {
  Json causes = Json::array();
  for (const Time cause : decision.causes) causes.push_back(cause.ps);
  return {{"at_ps", decision.at.ps},
          {"begin_ps", decision.begin.ps},
          {"causes_ps", causes},
          {"what", decision.what},
          {"in_force", decision.in_force},
          {"planning_seconds", decision.planning_seconds},
          {"handed_over", decision.by_fallback}};
}

Json details_of(const PolicyRow& row) {
  if (row.policy == nullptr) return Json::object();
  const Recovery& recovery = row.recovery();
  Json decisions = Json::array();
  for (const Decision& decision : recovery.decisions) decisions.push_back(decision_json(decision));
  Json json = {{"decisions", std::move(decisions)},
               {"missing_text", row.policy->missing},
               {"stuck_text", row.policy->stuck}};
  if (row.e->scenarios.size() > 1) return json;
  json["progress"] = progress_json(recovery.progress);
  if (row.noise != nullptr) json["draws"] = draws_json(*row.noise);
  return json;
}

Json scenario_json(const ScenarioEvaluation& scenario) {
  Json events = Json::array();
  for (std::size_t i = 0; i < scenario.events.size(); ++i)
    events.push_back({{"at_ps", scenario.events[i].at.ps},
                      {"kind", to_text(scenario.events[i].kind)},
                      {"text", scenario.event_texts[i]}});
  const auto& failed_links = scenario.scenario.failed_links;
  return {{"failed_links", failed_links ? Json(*failed_links) : Json(nullptr)},
          {"seed", scenario.scenario.seed},
          {"events", std::move(events)},
          {"cuts", scenario.cuts}};
}

Json undisturbed_json(const FailureEvaluation& e) {
  if (!e.verified) return nullptr;
  Json json = replay_details(e.undisturbed, LinkDetail::none);
  json["progress"] = progress_json(e.progress);
  return json;
}

Json about(const FailureEvaluation& e) {
  Json scenarios = Json::array();
  for (const ScenarioEvaluation& scenario : e.scenarios)
    scenarios.push_back(scenario_json(scenario));
  return {{"label", text_or_null(e.label)},
          {"topology", e.topology},
          {"collective", e.collective},
          {"size_bytes", e.size.count},
          {"algorithm", e.algorithm},
          {"chunks_chosen", e.chose_chunks},
          {"wanted_bytes", e.verified ? Json(e.wanted.count) : Json(nullptr)},
          {"undisturbed", undisturbed_json(e)},
          {"scenarios", std::move(scenarios)},
          {"problem", text_or_null(e.problem)},
          {"seconds", e.seconds}};
}

} // namespace

Json failure_details(std::span<const FailureEvaluation> evaluations) {
  Json details = Json::array();
  for (const PolicyRow& row : policy_rows(evaluations)) details.push_back(details_of(row));
  return details;
}

Json about_failures(std::span<const FailureEvaluation> evaluations) {
  Json studies = Json::array();
  for (const FailureEvaluation& e : evaluations) studies.push_back(about(e));
  return studies;
}

} // namespace tutti
