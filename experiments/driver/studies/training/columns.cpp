// Iterations of training as records and JSON. Everything is derived from the report here and
// nothing kept, so that it can't contradict it. Accounts are sums over NPUs and iterations, which
// are exact in picoseconds; whoever wants means divides them. Nothing stands where a run has no
// report, or a text no flops: null in JSON.
#include "experiments/driver/studies/training/columns.hpp"

#include "experiments/driver/records/json.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

namespace {

struct IterationRow {
  const TrainingEvaluation* e;
  const TrainingRun* run;
  const NoiseOutcome* noise = nullptr;
};

/// Nothing where it isn't known.
Cell positive(double value) { return value > 0 ? Cell(value) : Cell(); }

/// Nothing where nothing was simulated.
const TrainingRun* reported(const IterationRow& row) { return row.run->report ? row.run : nullptr; }

Fields<IterationRow> label_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = IterationRow;
  return {{{"label", text, key}, [](const R& r) { return r.e->label; }},
          {{"topology", text, key}, [](const R& r) { return r.run->topology; }},
          {{"npus", count, key}, [](const R& r) { return r.run->npus; }},
          {{"workload", text, key}, [](const R& r) { return r.run->workload.name; }},
          {{"variant", text, key}, [](const R& r) { return r.run->variant; }},
          {{"algorithm", text, key}, [](const R& r) { return r.run->plan; }},
          {{"condition", text, key}, [](const R& r) { return to_text(r.run->condition.kind); }},
          {{"failed_links", count, key}, [](const R& r) { return r.run->condition.failed_links; }},
          {{"seed", count, key}, [](const R& r) { return r.run->condition.seed; }}};
}

Fields<IterationRow> model_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = IterationRow;
  return {
      {{"engine", text, key}, [](const R& r) { return joined(r.e->engines, "+"); }},
      {{"link_busy", text, key}, [](const R& r) { return to_text(r.e->model.link_busy); }},
      {{"forwarding", text, key}, [](const R& r) { return to_text(r.e->model.forwarding); }},
      {{"one_at_a_time", truth, key}, [](const R& r) { return r.e->one_at_a_time; }},
      {{"reduce_rate_bytes_per_s", rate, key}, [](const R& r) { return r.e->model.reduce_rate; }},
      {{"status", text, note},
       [](const R& r) {
         if (!r.run->problem.empty()) return Cell("defect");
         return Cell(to_text(r.run->report ? Status::feasible : r.run->status));
       }},
      {{"note", text, note}, [](const R& r) { return r.run->note; }},
      {{"iterations", count, key}, [](const R& r) { return r.run->workload.iterations; }}};
}

/// `part`, a sum over NPUs, as a fraction of the time of all NPUs together: the mean over NPUs.
Cell fraction(const TrainingRun& run, Time part) {
  const double whole = static_cast<double>(run.report->duration.ps) * static_cast<double>(run.npus);
  return whole > 0 ? static_cast<double>(part.ps) / whole : 0;
}

Fields<TrainingRun> iteration_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = TrainingRun;
  const auto sum = [](const R& r) { return summed_accounts(*r.report); };
  Fields<R> fields{
      {{"iteration_time_ps", time, metric}, [](const R& r) { return r.iteration_time(); }},
      {{"iterations_per_s", number, metric},
       [](const R& r) { return r.workload.iterations / r.report->duration.seconds(); }},
      {{"items_per_s", number, metric}, [](const R& r) { return positive(r.items_per_second()); }},
      {{"flops_utilisation", number, metric},
       [](const R& r) { return positive(r.flops_utilisation()); }},
      {{"lower_bound_ps", time, metric}, [](const R& r) { return r.bound; }},
      {{"exposed_ps", time, metric},
       [=](const R& r) { // of an iteration, mean over NPUs
         return Time{std::llround(static_cast<double>(exposed_time(sum(r)).ps) /
                                  (static_cast<double>(r.npus) * r.workload.iterations))};
       }},
      {{"exposed_fraction", part, metric},
       [=](const R& r) { return fraction(r, exposed_time(sum(r))); }}};
  for (std::size_t p = 0; p < purpose_count; ++p)
    fields.push_back(
        {{fmt::format("exposed_{}_fraction", to_text(static_cast<Purpose>(p))), part, metric},
         [=](const R& r) { return fraction(r, sum(r).exposed[p]); }});
  extend(
      fields,
      {{{"bubble_fraction", part, metric}, [=](const R& r) { return fraction(r, sum(r).bubble); }},
       {{"waiting_fraction", part, metric},
        [=](const R& r) { return fraction(r, sum(r).waiting); }},
       {{"compute_fraction", part, metric},
        [=](const R& r) { return fraction(r, sum(r).compute); }},
       {{"hidden_fraction", part, metric}, [](const R& r) { return hidden_part(*r.report); }},
       {{"duration_ps", time, metric}, [](const R& r) { return r.report->duration; }}});
  return fields;
}

/// Compute, exposed communication by purpose, bubbles and waiting.
Fields<TimeAccount> account_fields(const std::string& prefix) {
  using enum Quantity;
  using enum ColumnRole;
  using A = TimeAccount;
  Fields<A> fields{
      {{prefix + "compute_ps", time, metric}, [](const A& account) { return account.compute; }}};
  for (std::size_t p = 0; p < purpose_count; ++p)
    fields.push_back(
        {{fmt::format("{}exposed_{}_ps", prefix, to_text(static_cast<Purpose>(p))), time, metric},
         [p](const A& account) { return account.exposed[p]; }});
  fields.push_back(
      {{prefix + "bubble_ps", time, metric}, [](const A& account) { return account.bubble; }});
  fields.push_back(
      {{prefix + "waiting_ps", time, metric}, [](const A& account) { return account.waiting; }});
  return fields;
}

Fields<TrainingRun> summed_fields() {
  using enum Quantity;
  using enum ColumnRole;
  Fields<TrainingRun> fields;
  for (const Field<TimeAccount>& field : account_fields("sum_"))
    fields.push_back({field.column, [value = field.value](const TrainingRun& run) {
                        return value(summed_accounts(*run.report));
                      }});
  return fields;
}

Fields<TrainingRun> work_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = TrainingRun;
  const auto reported = [](auto member) {
    return [member](const R& r) { return r.report ? Cell((*r.report).*member) : Cell(); };
  };
  return {
      {{"memory_bytes", bytes, metric},
       [](const R& r) { return r.workload.memory ? Cell(r.workload.memory->total()) : Cell(); }},
      {{"link_crossings", count, metric}, reported(&IterationReport::link_transfers)},
      {{"replayed_crossings", count, metric}, reported(&IterationReport::replayed)},
      {{"synthesis_seconds", effort, cost}, [](const R& r) { return r.planning_seconds; }},
      {{"replay_seconds", effort, cost}, [](const R& r) { return r.run_seconds; }}};
}

struct NpuRow {
  IterationRow row;
  std::size_t npu;

  [[nodiscard]] const IterationReport& report() const { return *row.run->report; }
};

/// Where 90 % of measured times are expected.
Fields<TrainingRun> interval_fields() {
  using enum Quantity;
  using enum ColumnRole;
  const auto end = [](Time Interval::*which) {
    return
        [which](const TrainingRun& r) { return r.interval ? Cell((*r.interval).*which) : Cell(); };
  };
  return {{{"time_low_ps", time, metric}, end(&Interval::low)},
          {{"time_high_ps", time, metric}, end(&Interval::high)}};
}

Fields<NpuRow> npu_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = NpuRow;
  Fields<R> fields = fields_through<R>(label_fields(), [](const R& r) { return &r.row; });
  fields.push_back({{"npu", count, key}, [](const R& r) { return r.npu; }});
  extend(fields, fields_through<R>(account_fields(""),
                                   [](const R& r) { return &r.report().accounts[r.npu]; }));
  fields.push_back({{"duration_ps", time, metric}, [](const R& r) { return r.report().duration; }});
  for (std::size_t p = 0; p < purpose_count; ++p)
    fields.push_back(
        {{fmt::format("under_way_{}_ps", to_text(static_cast<Purpose>(p))), time, metric},
         [p](const R& r) { return r.report().communication[r.npu][p]; }});
  return fields;
}

bool has_noise(const TrainingEvaluation& e) {
  return std::ranges::any_of(e.runs, [](const TrainingRun& run) { return !run.noises.empty(); });
}

bool has_transport(const TrainingEvaluation& e) {
  return std::ranges::any_of(e.runs,
                             [](const TrainingRun& run) { return run.transport != "ideal"; });
}

Fields<IterationRow> fields_with(bool noise, bool transport) {
  using R = IterationRow;
  Fields<R> fields = label_fields();
  extend(fields, model_fields());
  if (transport) {
    fields.push_back({{"transport", Quantity::text, ColumnRole::key},
                      [](const R& r) { return r.run->transport; }});
    extend(fields, fields_through<R>(interval_fields(), reported));
  }
  extend(fields, fields_through<R>(iteration_fields(), reported));
  extend(fields, fields_through<R>(summed_fields(), reported));
  if (noise) extend(fields, fields_through<R>(noise_fields(), [](const R& r) { return r.noise; }));
  extend(fields, fields_through<R>(work_fields(), [](const R& r) { return r.run; }));
  return fields;
}

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

Time TrainingRun::iteration_time() const {
  return Time{report->duration.ps / static_cast<std::int64_t>(workload.iterations)};
}

double TrainingRun::items_per_second() const {
  const double seconds = report->duration.seconds();
  return seconds > 0 ? workload.items * workload.iterations / seconds : 0;
}

double TrainingRun::flops_utilisation() const {
  const double most = workload.peak_flops * npus * report->duration.seconds();
  return most > 0 ? workload.flops * workload.iterations / most : 0;
}

TimeAccount summed_accounts(const IterationReport& report) {
  TimeAccount sum;
  for (const TimeAccount& account : report.accounts) {
    sum.compute += account.compute;
    sum.bubble += account.bubble;
    sum.waiting += account.waiting;
    for (std::size_t p = 0; p < purpose_count; ++p) sum.exposed[p] += account.exposed[p];
  }
  return sum;
}

NodeId busiest_npu(const IterationReport& report) {
  const auto most = std::ranges::max_element(report.accounts, {}, &TimeAccount::compute);
  return NodeId{static_cast<std::uint32_t>(most - report.accounts.begin())};
}

Time exposed_time(const TimeAccount& account) {
  return std::accumulate(account.exposed.begin(), account.exposed.end(), Time{});
}

double hidden_part(const IterationReport& report) {
  Time under_way;
  for (const auto& communication : report.communication)
    for (const Time time : communication) under_way += time;
  if (under_way == Time{}) return 1;
  return 1 - static_cast<double>(exposed_time(summed_accounts(report)).ps) /
                 static_cast<double>(under_way.ps);
}

Report link_report(const IterationReport& report) {
  Report links;
  links.engine = report.engine;
  links.model = report.model;
  links.completion = report.duration;
  links.links = report.links;
  return links;
}

Field<TrainingRun> run_field(std::string_view name) {
  Fields<TrainingRun> fields = iteration_fields();
  extend(fields, interval_fields());
  return *std::ranges::find(fields, name, [](const auto& field) { return field.column.name; });
}

Records training_records(const TrainingEvaluation& e) {
  std::vector<IterationRow> rows;
  for (const TrainingRun& run : e.runs)
    for (const NoiseOutcome* noise : noises_of(run)) rows.push_back({&e, &run, noise});
  return records_of<IterationRow>(fields_with(has_noise(e), has_transport(e)), rows);
}

std::vector<RecordColumn> TrainingStudy::columns() {
  return records_of<IterationRow>(fields_with(true, true), {}).columns;
}

std::vector<const NoiseOutcome*> noises_of(const TrainingRun& run) {
  if (run.noises.empty()) return {nullptr};
  std::vector<const NoiseOutcome*> noises;
  for (const NoiseOutcome& noise : run.noises) noises.push_back(&noise);
  return noises;
}

Records npu_records(const TrainingEvaluation& e) {
  std::vector<NpuRow> rows;
  for (const TrainingRun& run : e.runs)
    for (std::size_t npu = 0; run.report && npu < run.report->accounts.size(); ++npu)
      rows.push_back({{&e, &run}, npu});
  return records_of<NpuRow>(npu_fields(), rows);
}

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
