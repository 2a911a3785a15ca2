// The message between a worker process and the driver holds all of an evaluation; what users get is
// its records and what no column has.
#include "experiments/driver/studies/runs/json.hpp"

#include "experiments/driver/records/json.hpp"
#include "experiments/driver/studies/runs/records.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) { return json.is_null() ? "" : json.get<std::string>(); }

// Column-wise: short, and quick to read back.
Json links_json(const Report& report) {
  Json bytes = Json::array(), busy = Json::array(), transfers = Json::array();
  for (const LinkUse& use : report.links) {
    bytes.push_back(use.bytes.count);
    busy.push_back(use.busy.ps);
    transfers.push_back(use.transfers);
  }
  return {{"bytes", bytes}, {"busy_ps", busy}, {"transfers", transfers}};
}

Json agreement_json(const std::optional<EngineAgreement>& agreement) {
  if (!agreement) return nullptr;
  return {{"largest_ps", agreement->largest.ps},
          {"allowed_ps", agreement->allowed.ps},
          {"what", agreement->what},
          {"holds", agreement->holds},
          {"depends_on_rounding", agreement->depends_on_rounding}};
}

std::optional<EngineAgreement> parse_agreement(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return EngineAgreement{{json.at("largest_ps").get<std::int64_t>()},
                         {json.at("allowed_ps").get<std::int64_t>()},
                         json.at("what"),
                         json.at("holds"),
                         json.at("depends_on_rounding")};
}

std::vector<LinkUse> parse_links(const Json& json) {
  const Json &bytes = json.at("bytes"), &busy = json.at("busy_ps"), &counts = json.at("transfers");
  std::vector<LinkUse> links(bytes.size());
  for (std::size_t i = 0; i < links.size(); ++i)
    links[i] = {Bytes{bytes[i].get<std::int64_t>()}, Time{busy.at(i).get<std::int64_t>()},
                counts.at(i).get<std::uint64_t>()};
  return links;
}

Replay parse_replay(const Json& json) {
  Replay replay;
  Report& report = replay.report;
  report.engine = json.at("engine");
  report.model.link_busy = link_busy_words.parse(json.at("link_busy").get<std::string>());
  report.model.forwarding = forwarding_words.parse(json.at("forwarding").get<std::string>());
  report.model.discipline = discipline_words.parse(json.at("discipline").get<std::string>());
  report.model.network = network_model_words.parse(json.at("network_model").get<std::string>());
  report.network_parameters = json.at("network_parameters");
  report.model.reduce_rate = {json.at("reduce_rate_bytes_per_s").get<std::int64_t>()};
  report.completion = {json.at("collective_time_ps").get<std::int64_t>()};
  report.link_transfers = json.at("link_transfers");
  report.links = parse_links(json.at("links"));
  replay.bound = {{json.at("lower_bound_ps").get<std::int64_t>()},
                  json.at("lower_bound_kind"),
                  json.at("lower_bound_certificate")};
  replay.bound_at_chunks = {{json.at("lower_bound_at_chunks_ps").get<std::int64_t>()},
                            json.at("lower_bound_at_chunks_kind"),
                            json.at("lower_bound_at_chunks_certificate")};
  replay.algbw = json.at("algbw_bytes_per_s");
  replay.busbw = json.at("busbw_bytes_per_s");
  report.agreement = parse_agreement(json.at("agreement"));
  replay.rounding = {json.at("rounding_ps").get<std::int64_t>()};
  replay.transport = text_of(json.at("transport"));
  if (const Json& low = json.at("time_low_ps"); !low.is_null())
    replay.interval = {{low.get<std::int64_t>()}, {json.at("time_high_ps").get<std::int64_t>()}};
  if (const Json& ratio = json.at("over_nccl"); !ratio.is_null())
    replay.over_nccl = ratio.get<double>();
  for (const Json& noise : json.at("noises")) replay.noises.push_back(parse_noise_message(noise));
  return replay;
}

Json attempts_json(const std::optional<AttemptSpread>& attempts) {
  if (!attempts) return nullptr;
  return {{"count", attempts->count},
          {"best_ps", attempts->best.ps},
          {"median_ps", attempts->median.ps},
          {"worst_ps", attempts->worst.ps}};
}

std::optional<AttemptSpread> parse_attempts(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return AttemptSpread{json.at("count").get<std::uint64_t>(),
                       {json.at("best_ps").get<std::int64_t>()},
                       {json.at("median_ps").get<std::int64_t>()},
                       {json.at("worst_ps").get<std::int64_t>()}};
}

Json facts_json(const std::map<std::string, double>& facts) {
  Json json = Json::object();
  for (const auto& [name, value] : facts) json[name] = number_or_null(value);
  return json;
}

std::map<std::string, double> parse_facts(const Json& json) {
  std::map<std::string, double> facts;
  for (const auto& [name, value] : json.items())
    facts[name] = value.is_null() ? std::nan("") : value.get<double>();
  return facts;
}

Status parse_status(const std::string& text) {
  for (const Status status : {Status::optimal, Status::feasible, Status::infeasible,
                              Status::unsupported, Status::timed_out, Status::out_of_memory})
    if (to_text(status) == text) return status;
  throw InputError(fmt::format("unknown status \"{}\"", text));
}

Json replay_json(const Replay& replay) {
  const Report& report = replay.report;
  Json noises = Json::array();
  for (const NoiseOutcome& noise : replay.noises) noises.push_back(noise_message(noise));
  return {{"engine", report.engine},
          {"discipline", to_text(report.model.discipline)},
          {"network_model", to_text(report.model.network)},
          {"network_parameters", report.network_parameters},
          {"link_busy", to_text(report.model.link_busy)},
          {"forwarding", to_text(report.model.forwarding)},
          {"reduce_rate_bytes_per_s", report.model.reduce_rate.bytes_per_second},
          {"collective_time_ps", report.completion.ps},
          {"lower_bound_ps", replay.bound.time.ps},
          {"lower_bound_kind", replay.bound.kind},
          {"lower_bound_certificate", replay.bound.certificate},
          {"lower_bound_at_chunks_ps", replay.bound_at_chunks.time.ps},
          {"lower_bound_at_chunks_kind", replay.bound_at_chunks.kind},
          {"lower_bound_at_chunks_certificate", replay.bound_at_chunks.certificate},
          {"algbw_bytes_per_s", replay.algbw},
          {"busbw_bytes_per_s", replay.busbw},
          {"link_transfers", report.link_transfers},
          {"links", links_json(report)},
          {"agreement", agreement_json(report.agreement)},
          {"rounding_ps", replay.rounding.ps},
          {"transport", text_or_null(replay.transport)},
          {"time_low_ps", replay.interval ? Json(replay.interval->low.ps) : Json(nullptr)},
          {"time_high_ps", replay.interval ? Json(replay.interval->high.ps) : Json(nullptr)},
          {"over_nccl", replay.over_nccl ? Json(*replay.over_nccl) : Json(nullptr)},
          {"noises", std::move(noises)}};
}

} // namespace

Json replay_details(const Replay& replay, LinkDetail links) {
  const Report& report = replay.report;
  Json json = {{"lower_bound_certificate", replay.bound.certificate},
               {"lower_bound_at_chunks_kind", replay.bound_at_chunks.kind},
               {"lower_bound_at_chunks_certificate", replay.bound_at_chunks.certificate},
               {"reduce_rate_bytes_per_s", report.model.reduce_rate.bytes_per_second},
               {"link_transfers", report.link_transfers}};
  if (!report.network_parameters.empty()) json["network_parameters"] = report.network_parameters;
  if (report.agreement) json["agreement"] = agreement_json(report.agreement);
  if (links == LinkDetail::all) json["links"] = links_json(report);
  return json;
}

Json run_details(std::span<const Evaluation> evaluations, LinkDetail links) {
  Json details = Json::array();
  for (const Evaluation& e : evaluations) {
    const Json of_case = {{"chunks_chosen", e.chose_chunks}, {"problem", text_or_null(e.problem)}};
    if (e.replays.empty()) details.push_back(of_case);
    for (const Replay& replay : e.replays)
      for (const NoiseOutcome* noise : noises_of(replay)) {
        details.push_back(of_case);
        details.back().update(replay_details(replay, links));
        if (noise != nullptr && links == LinkDetail::all)
          details.back()["draws"] = draws_json(*noise);
      }
  }
  return details;
}

Json run_rows_json(std::span<const Evaluation> evaluations, LinkDetail links) {
  return runs_json("runs", run_records(evaluations), run_details(evaluations, links));
}

std::string evaluation_message(const Evaluation& e) {
  Json json = {{"run", text_or_null(e.run)},
               {"algorithm", e.algorithm},
               {"topology", e.topology},
               {"collective", e.collective},
               {"size_bytes", e.size.count},
               {"npus", e.npus},
               {"chunks_per_shard", e.chunks_per_shard},
               {"chunks_chosen", e.chose_chunks},
               {"chunks", e.chunks},
               {"transfers", e.transfers},
               {"redundant", e.redundant},
               {"status", to_text(e.status)},
               {"note", text_or_null(e.note)},
               {"routing", text_or_null(e.routing)},
               {"planned_time_ps", e.planned ? Json(e.planned->ps) : Json(nullptr)},
               {"planned_on", text_or_null(e.planned_on)},
               {"attempts", attempts_json(e.attempts)},
               {"facts", facts_json(e.facts)},
               {"verified", e.verified},
               {"problem", text_or_null(e.problem)},
               {"synthesis_seconds", e.synthesis_seconds},
               {"verify_seconds", e.verify_seconds},
               {"replay_seconds", e.replay_seconds},
               {"bound_seconds", e.bound_seconds},
               {"peak_rss_bytes", e.peak_rss_bytes},
               {"hottest_link", text_or_null(e.hottest_link)},
               {"bottleneck", text_or_null(e.bottleneck)},
               {"replays", Json::array()}};
  for (const Replay& replay : e.replays) json["replays"].push_back(replay_json(replay));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Evaluation parse_evaluation(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    Evaluation e;
    e.run = text_of(json.at("run"));
    e.algorithm = json.at("algorithm");
    e.topology = json.at("topology");
    e.collective = json.at("collective");
    e.size = {json.at("size_bytes").get<std::int64_t>()};
    e.npus = json.at("npus");
    e.chunks_per_shard = json.at("chunks_per_shard");
    e.chose_chunks = json.at("chunks_chosen");
    e.chunks = json.at("chunks");
    e.transfers = json.at("transfers");
    e.redundant = json.at("redundant");
    e.status = parse_status(json.at("status"));
    e.note = text_of(json.at("note"));
    e.routing = text_of(json.at("routing"));
    if (const Json& planned = json.at("planned_time_ps"); !planned.is_null())
      e.planned = Time{planned.get<std::int64_t>()};
    e.planned_on = text_of(json.at("planned_on"));
    e.attempts = parse_attempts(json.at("attempts"));
    e.facts = parse_facts(json.at("facts"));
    e.verified = json.at("verified");
    e.problem = text_of(json.at("problem"));
    e.synthesis_seconds = json.at("synthesis_seconds");
    e.verify_seconds = json.at("verify_seconds");
    e.replay_seconds = json.at("replay_seconds");
    e.bound_seconds = json.at("bound_seconds");
    e.peak_rss_bytes = json.at("peak_rss_bytes");
    e.hottest_link = text_of(json.at("hottest_link"));
    e.bottleneck = text_of(json.at("bottleneck"));
    for (const Json& replay : json.at("replays")) e.replays.push_back(parse_replay(replay));
    return e;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("malformed evaluation: {}", error.what()));
  }
}

} // namespace tutti
