// All that the tables leave out is here: every decision with its causes, and what is missing or
// stuck in words. Progress is written for a single run only; of a sweep it would be most of the
// file.
#include "experiments/driver/studies/failures/json.hpp"

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
  return {{"at_ps", decision.at.ps},       {"begin_ps", decision.begin.ps},
          {"causes_ps", causes},           {"what", decision.what},
          {"in_force", decision.in_force}, {"planning_seconds", decision.planning_seconds}};
}

Json policy_json(const FailureEvaluation& e, const PolicyEvaluation& policy) {
  const Recovery& recovery = policy.recovery;
  const auto slower = e.slowdown(policy);
  Json decisions = Json::array();
  for (const Decision& decision : recovery.decisions) decisions.push_back(decision_json(decision));
  Json json = {{"policy", to_text(recovery.policy)},
               {"complete", recovery.complete()},
               {"ending", to_text(recovery.ending)},
               {"last_delivery_ps",
                recovery.completion == Time{} ? Json(nullptr) : Json(recovery.completion.ps)},
               {"slowdown", slower ? Json(*slower) : Json(nullptr)},
               {"goodput_lost", e.goodput_lost(policy)},
               {"in_vain_bytes", recovery.in_vain.count},
               {"decisions", std::move(decisions)},
               {"planning_seconds", policy.planning_seconds},
               {"npus_missing_some", policy.missing_npus},
               {"missing", recovery.missing.size()},
               {"missing_text", policy.missing},
               {"lost", recovery.lost.size()},
               {"stuck", recovery.stuck.size()},
               {"stuck_text", policy.stuck}};
  if (e.scenarios.size() == 1) json["progress"] = progress_json(recovery.progress);
  return json;
}

Json scenario_json(const FailureEvaluation& e, const ScenarioEvaluation& scenario) {
  Json events = Json::array(), policies = Json::array();
  for (std::size_t i = 0; i < scenario.events.size(); ++i)
    events.push_back({{"at_ps", scenario.events[i].at.ps},
                      {"kind", to_text(scenario.events[i].kind)},
                      {"text", scenario.event_texts[i]}});
  for (const PolicyEvaluation& policy : scenario.policies)
    policies.push_back(policy_json(e, policy));
  const auto& failed_links = scenario.scenario.failed_links;
  return {{"failed_links", failed_links ? Json(*failed_links) : Json(nullptr)},
          {"seed", scenario.scenario.seed},
          {"events", std::move(events)},
          {"cuts", scenario.cuts},
          {"policies", std::move(policies)}};
}

Json undisturbed_json(const FailureEvaluation& e) {
  if (!e.verified) return nullptr;
  Json json = replay_json(e.undisturbed, LinkDetail::none);
  json["progress"] = progress_json(e.progress);
  return json;
}

} // namespace

Json failure_json(const FailureEvaluation& e) {
  Json scenarios = Json::array();
  for (const ScenarioEvaluation& scenario : e.scenarios)
    scenarios.push_back(scenario_json(e, scenario));
  return {{"label", text_or_null(e.label)},
          {"topology", e.topology},
          {"collective", e.collective},
          {"size_bytes", e.size.count},
          {"npus", e.npus},
          {"algorithm", e.algorithm},
          {"chunks_per_shard", e.chunks_per_shard},
          {"chunks_chosen", e.chose_chunks},
          {"planner", e.planner},
          {"engines", e.engines},
          {"detection_ps", e.detection.ps},
          {"decision_ps", e.decision.ps},
          {"status", to_text(e.status)},
          {"note", text_or_null(e.note)},
          {"verified", e.verified},
          {"undisturbed", undisturbed_json(e)},
          {"wanted_bytes", e.wanted.count},
          {"scenarios", std::move(scenarios)},
          {"problem", text_or_null(e.problem)},
          {"seconds", e.seconds}};
}

} // namespace tutti
