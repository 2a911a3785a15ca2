// Every timed repetition is written, not only the median: whoever doubts a ratio wants the spread.
#include "experiments/driver/studies/executions/json.hpp"

#include "experiments/driver/studies/executions/expectation.hpp"

#include <nlohmann/json.hpp>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

Json run_json(const ExecutionRun& run) {
  Json json = {{"algorithm", run.algorithm},
               {"size_bytes", run.size.count},
               {"chunks_per_shard", run.chunks_per_shard},
               {"chunks_chosen", run.chose_chunks},
               {"transfers", run.transfers},
               {"blocks", run.blocks},
               {"steps", run.steps},
               {"channels", run.channels},
               {"scratch_units", run.scratch_units},
               {"lowering_seconds", run.lowering_seconds},
               {"note", run.note.empty() ? Json(nullptr) : Json(run.note)},
               {"problem", run.problem.empty() ? Json(nullptr) : Json(run.problem)}};
  if (!run.execution) return json;
  json["seconds"] = run.execution->seconds;
  json["median_seconds"] = run.measured();
  json["bytes_moved"] = run.execution->bytes_moved;
  json["memory_bytes"] = run.execution->memory_bytes;
  json["checked"] = run.execution->check.checked;
  json["wrong"] = run.execution->check.wrong;
  json["algbw_bytes_per_s"] = run.algbw;
  json["busbw_bytes_per_s"] = run.busbw;
  json["measured_over_predicted"] = run.ratio() > 0 ? Json(run.ratio()) : Json(nullptr);
  json["predicted_ps"] = Json::array();
  for (const Time time : run.predicted) json["predicted_ps"].push_back(time.ps);
  return json;
}

} // namespace

Json execution_json(const ExecutionEvaluation& e) {
  Json json = {{"label", e.label.empty() ? Json(nullptr) : Json(e.label)},
               {"topology", e.topology},
               {"npus", e.npus},
               {"backend", e.backend},
               {"device", e.device},
               {"links", e.emulated ? "emulated" : "real"},
               {"predicted_by", to_text(e.predicted_by)},
               {"collective", e.collective},
               {"type", to_text(e.type)},
               {"op", to_text(e.combine)},
               {"in_place", e.in_place},
               {"instances", e.instances},
               {"warmups", e.warmups},
               {"repetitions", e.repetitions},
               {"engines", e.engines}};
  if (e.profile) json["profile"] = profile_json(*e.network, *e.profile);
  if (e.copy_rate > 0) json["device_copy_bytes_per_s"] = e.copy_rate;
  const auto error = prediction_error(e);
  json["prediction_error"] = error ? Json(*error) : Json(nullptr);
  json["runs"] = Json::array();
  for (const ExecutionRun& run : e.runs) json["runs"].push_back(run_json(run));
  return json;
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
