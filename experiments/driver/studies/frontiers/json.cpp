// Fractions are written twice, exactly as a text ("7/6") and as a number for plots.
#include "experiments/driver/studies/frontiers/json.hpp"

#include "experiments/driver/records/json.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

Json instance_json(std::uint32_t chunks, std::uint32_t steps, std::uint32_t rounds) {
  const Ratio cost(rounds, chunks);
  return {{"chunks", chunks},
          {"steps", steps},
          {"rounds", rounds},
          {"rounds_per_chunk", to_text(cost)},
          {"rounds_per_chunk_value", cost.value()}};
}

Json point_json(const FrontierEvaluation& e, std::size_t p) {
  const FrontierPoint& point = e.frontier.points[p];
  Json json = instance_json(point.chunks, point.steps, point.rounds);
  json["chunks_per_shard"] = point.chunks_per_shard;
  json["proof"] = to_text(point.proof);
  json["least_rounds_per_chunk"] = to_text(point.least);
  json["latency_optimal"] = point.latency_optimal;
  json["bandwidth_optimal"] = point.bandwidth_optimal;
  json["method"] = point.method;
  json["seconds"] = point.seconds;
  json["transfers"] = e.points[p].transfers;
  json["verified"] = e.points[p].verified;
  return json;
}

Json trials_json(const Frontier& frontier) {
  Json trials = Json::array();
  for (const FrontierTrial& trial : frontier.trials) {
    Json json = instance_json(trial.chunks, trial.steps, trial.rounds);
    json["answer"] = trial.answer;
    json["method"] = trial.method;
    json["seconds"] = trial.seconds;
    trials.push_back(std::move(json));
  }
  return trials;
}

Json best_json(const FrontierEvaluation& e) {
  Json best = Json::array();
  for (const BestFrom& from : e.best)
    best.push_back({{"from_bytes", from.size.count}, {"point", from.which}});
  return best;
}

Json paper_json(const InstanceEvaluation& instance) {
  const PaperInstance& paper = instance.paper;
  Json json = instance_json(paper.chunks, paper.steps, paper.rounds);
  json["chunks_per_shard"] = paper.chunks_per_shard;
  json["paper_optimal_in"] = to_text(paper.claimed);
  json["paper_seconds"] = paper.seconds ? Json(*paper.seconds) : Json(nullptr);
  json["answer"] = instance.answer;
  json["method"] = text_or_null(instance.method);
  json["seconds"] = instance.seconds;
  json["verified"] = instance.verified;
  json["proven_optimal_in"] = to_text(instance.proven);
  json["better_point"] = instance.better ? Json(*instance.better) : Json(nullptr);
  json["verdict"] = to_text(instance.agreement);
  json["explanation"] = text_or_null(paper.explanation);
  json["problem"] = text_or_null(instance.problem);
  return json;
}

} // namespace

Json frontier_details(const FrontierStudyEvaluation& study) {
  const FrontierEvaluation& e = study.frontier;
  Json details = Json::array();
  for (std::size_t p = 0; p < e.points.size(); ++p)
    for (const SizedPoint& sized : e.points[p].at) {
      Json json = {{"point", p}};
      for (std::size_t i = 0; i < e.engines.size(); ++i)
        json[fmt::format("{}_time_ps", e.engines[i])] = sized.completions[i].ps;
      json.update(replay_details(sized.replay, LinkDetail::none));
      details.push_back(std::move(json));
    }
  return details;
}

Json about_frontier(const FrontierStudyEvaluation& study) {
  const FrontierEvaluation& e = study.frontier;
  const Frontier& frontier = e.frontier;
  const bool bounded = frontier.bandwidth_bound > Ratio(0);
  Json points = Json::array(), paper = Json::array();
  for (std::size_t p = 0; p < e.points.size(); ++p) points.push_back(point_json(e, p));
  for (const InstanceEvaluation& instance : study.instances) paper.push_back(paper_json(instance));
  return Json::array(
      {{{"label", text_or_null(e.label)},
        {"topology", e.topology},
        {"collective", e.collective},
        {"npus", e.npus},
        {"engine", joined(e.engines, "+")},
        {"link_busy", to_text(e.model.link_busy)},
        {"forwarding", to_text(e.model.forwarding)},
        {"step_latency_ps", frontier.step_latency.ps},
        {"round_bytes_per_s", frontier.round.bytes_per_second},
        {"points", std::move(points)},
        {"best", best_json(e)},
        {"bandwidth_bound", bounded ? Json(to_text(frontier.bandwidth_bound)) : Json(nullptr)},
        {"bandwidth_bound_value", bounded ? Json(frontier.bandwidth_bound.value()) : Json(nullptr)},
        {"complete", frontier.complete},
        {"timed_out", frontier.timed_out},
        {"stop", text_or_null(frontier.stop)},
        {"in_class", text_or_null(frontier.in_class)},
        {"trials", trials_json(frontier)},
        {"paper", std::move(paper)},
        {"beyond_paper", beyond_paper(study)},
        {"problem", text_or_null(e.problem)},
        {"synthesis_seconds", e.synthesis_seconds},
        {"verify_seconds", e.verify_seconds},
        {"replay_seconds", e.replay_seconds}}});
}

} // namespace tutti
