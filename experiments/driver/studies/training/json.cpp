// Integers are exact and of all iterations, as the simulator counts them; only what is a ratio is a
// floating-point number, and what isn't known (a text has no flops) is null.
#include "experiments/driver/studies/training/json.hpp"

#include "experiments/driver/records/json.hpp"
#include "experiments/driver/studies/training/records.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

Json positive_or_null(double value) { return value > 0 ? Json(value) : Json(nullptr); }

Json times_json(const std::array<Time, purpose_count>& times) {
  Json json = Json::object();
  for (std::size_t p = 0; p < purpose_count; ++p)
    json[std::string(to_text(static_cast<Purpose>(p)))] = times[p].ps;
  return json;
}

Json account_json(const TimeAccount& account) {
  return {{"compute_ps", account.compute.ps},
          {"exposed_ps", times_json(account.exposed)},
          {"bubble_ps", account.bubble.ps},
          {"waiting_ps", account.waiting.ps},
          {"total_ps", account.total().ps}};
}

Json communication_json(const PlannedCommunication& each) {
  return {{"operation", each.is_send ? "send" : std::string(to_text(each.kind))},
          {"size_bytes", each.size.count},
          {"npus", each.members},
          {"requests", each.requests},
          {"algorithm", each.algorithm},
          {"protocol", text_or_null(each.protocol)},
          {"chunks_per_shard", each.chunks_per_shard},
          {"alone_ps", each.alone.ps},
          {"lower_bound_ps", each.bound.ps},
          {"remembered", each.was_remembered}};
}

Json memory_json(const WorkloadSummary& workload) {
  if (!workload.memory) return nullptr;
  const MemoryEstimate& memory = *workload.memory;
  return {{"npu", workload.memory_npu.value},
          {"total_bytes", memory.total().count},
          {"parameters_bytes", memory.parameters.count},
          {"gradients_bytes", memory.gradients.count},
          {"optimizer_bytes", memory.optimizer.count},
          {"activations_bytes", memory.activations.count},
          {"warning", text_or_null(workload.memory_warning)}};
}

Json workload_json(const WorkloadSummary& workload) {
  return {{"items", positive_or_null(workload.items)},
          {"item", text_or_null(workload.item)},
          {"flops", positive_or_null(workload.flops)},
          {"trained_on", text_or_null(workload.trained_on)},
          {"peak_flops_per_npu", positive_or_null(workload.peak_flops)},
          {"memory", memory_json(workload)}};
}

void add_npus(Json& json, const IterationReport& report) {
  Json npus = Json::array(), links = Json::array();
  for (std::size_t npu = 0; npu < report.accounts.size(); ++npu) {
    Json account = account_json(report.accounts[npu]);
    account["under_way_ps"] = times_json(report.communication[npu]);
    npus.push_back(std::move(account));
  }
  for (const LinkUse& link : report.links)
    links.push_back(
        {{"bytes", link.bytes.count}, {"busy_ps", link.busy.ps}, {"transfers", link.transfers}});
  json["npu_accounts"] = std::move(npus);
  json["links"] = std::move(links);
}

Json report_json(const TrainingRun& run, NpuDetail detail) {
  if (!run.report) return nullptr;
  const IterationReport& report = *run.report;
  const NodeId busiest = busiest_npu(report);
  Json json = {{"sum_over_npus", account_json(summed_accounts(report))},
               {"busiest_npu", busiest.value},
               {"busiest", account_json(report.accounts[busiest.value])},
               {"hottest_link", text_or_null(run.hottest)},
               {"operations", report.operations},
               {"communications", report.communications}};
  if (detail == NpuDetail::all) add_npus(json, report);
  return json;
}

Json run_details(const TrainingRun& run, NpuDetail detail) {
  Json planned = Json::array();
  for (const PlannedCommunication& each : run.communications)
    planned.push_back(communication_json(each));
  return {{"workload", workload_json(run.workload)},
          {"report", report_json(run, detail)},
          {"plans", std::move(planned)},
          {"problem", text_or_null(run.problem)}};
}

} // namespace

Json training_details(const TrainingEvaluation& evaluation, NpuDetail detail) {
  Json details = Json::array();
  for (const TrainingRun& run : evaluation.runs)
    for (const NoiseOutcome* noise : noises_of(run)) {
      details.push_back(run_details(run, detail));
      if (noise != nullptr && detail == NpuDetail::all)
        details.back()["draws"] = draws_json(*noise);
    }
  return details;
}

} // namespace tutti
