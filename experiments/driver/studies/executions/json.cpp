// Every timed repetition is written, not only the median: whoever doubts a ratio wants the spread.
#include "experiments/driver/studies/executions/json.hpp"

#include "experiments/driver/records/json.hpp"
#include "experiments/driver/studies/executions/prediction.hpp"
#include "sim/text.hpp"

#include <nlohmann/json.hpp>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

Json run_details(const ExecutionRun& run) {
  Json json = {{"chunks_chosen", run.chose_chunks},
               {"transfers", run.transfers},
               {"scratch_units", run.scratch_units},
               {"lowering_seconds", run.lowering_seconds},
               {"problem", text_or_null(run.problem)}};
  if (!run.execution) return json;
  json["seconds"] = run.execution->seconds;
  json["predicted_ps"] = Json::array();
  for (const Time time : run.predicted) json["predicted_ps"].push_back(time.ps);
  json["bytes_moved"] = run.execution->bytes_moved;
  json["memory_bytes"] = run.execution->memory_bytes;
  return json;
}

} // namespace

Json execution_details(const ExecutionEvaluation& e) {
  Json details = Json::array();
  for (const ExecutionRun& run : e.runs) details.push_back(run_details(run));
  return details;
}

Json about_executions(const ExecutionEvaluation& e) {
  const auto error = prediction_error(e);
  return Json::array(
      {{{"label", text_or_null(e.label)},
        {"topology", e.topology},
        {"npus", e.npus},
        {"backend", e.backend},
        {"device", text_or_null(e.device)},
        {"predicted_by", to_text(e.predicted_by)},
        {"engine", joined(e.engines, "+")},
        {"warmups", e.warmups},
        {"repetitions", e.repetitions},
        {"profile", e.profile ? profile_json(*e.network, *e.profile) : Json(nullptr)},
        {"device_copy_bytes_per_s", e.copy_rate > 0 ? Json(e.copy_rate) : Json(nullptr)},
        {"prediction_error", error ? Json(*error) : Json(nullptr)}}});
}

Json profile_json(const Topology& network, const runtime::Profile& profile) {
  Json links = Json::array();
  for (const runtime::LinkProfile& link : profile.links) {
    const Link& of = network.link(link.link);
    Json timings = Json::array();
    for (const runtime::LinkTiming& timing : link.timings)
      timings.push_back({{"size_bytes", timing.size.count},
                         {"one_by_one_seconds", timing.one_by_one_seconds},
                         {"at_once_seconds", timing.at_once_seconds}});
    links.push_back({{"from", network.node(of.from).name},
                     {"to", network.node(of.to).name},
                     {"latency_seconds", link.latency_seconds},
                     {"seconds_per_byte", link.seconds_per_byte},
                     {"fit_error", link.fit_error},
                     {"timings", std::move(timings)}});
  }
  return {{"joint_bytes_per_s", profile.joint_bytes_per_second},
          {"fit_error", profile.fit_error()},
          {"links", std::move(links)}};
}

} // namespace tutti
