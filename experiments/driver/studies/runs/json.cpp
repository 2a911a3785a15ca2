// What users get of an evaluation is its records and what no column has.
#include "experiments/driver/studies/runs/json.hpp"

#include "experiments/driver/records/json.hpp"
#include "experiments/driver/studies/runs/records.hpp"

#include <nlohmann/json.hpp>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

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

Json agreement_json(const EngineAgreement& agreement) {
  return {{"largest_ps", agreement.largest.ps},
          {"allowed_ps", agreement.allowed.ps},
          {"what", agreement.what},
          {"holds", agreement.holds},
          {"depends_on_rounding", agreement.depends_on_rounding}};
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
  if (report.agreement) json["agreement"] = agreement_json(*report.agreement);
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

} // namespace tutti
