// Iterations of training as records and JSON. Everything is derived from the report here and
// nothing kept, so that it can't contradict it. Accounts are sums over NPUs and iterations, which
// are exact in picoseconds; whoever wants means divides them. Nothing stands where a run has no
// report, or a text no flops: null in JSON.
#include "experiments/driver/studies/training/columns.hpp"

#include "experiments/driver/records/json.hpp"
#include "experiments/driver/studies/shared_columns.hpp"
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
  using namespace column_words;
  using R = IterationRow;
  return {
      {shared("label"), [](const R& r) { return r.e->label; }},
      {shared("topology"), [](const R& r) { return r.run->topology; }},
      {shared("npus"), [](const R& r) { return r.run->npus; }},
      {{"workload", text, key, always, "Name of the model, workload text or trace"},
       [](const R& r) { return r.run->workload.name; }},
      {{"variant", text, key, sometimes,
        "Name of the `[[training.variants]]`; null where there are none"},
       [](const R& r) { return r.run->variant; }},
      {shared("algorithm",
              "Algorithm by which all collectives are made; `auto`: for each the best of several"),
       [](const R& r) { return r.run->plan; }},
      {{"condition", text, key, always,
        "What disturbs the iterations. `undisturbed`: nothing. `disturbed`: stragglers and events. "
        "`reroute`: cables are out of order, and what would cross them takes the shortest path "
        "that is left. `resynthesize`: cables are out of order, and all is planned for what is "
        "left of the network"},
       [](const R& r) { return to_text(r.run->condition.kind); }},
      {{"failed_links", count, key, sometimes,
        "Number of random cables that are out of order from the beginning; 0 where none are"},
       [](const R& r) { return r.run->condition.failed_links; }},
      {{"seed", count, key, sometimes, "Seed by which these cables are drawn; 1 where none are"},
       [](const R& r) { return r.run->condition.seed; }}};
}

Fields<IterationRow> model_fields() {
  using namespace column_words;
  using R = IterationRow;
  return {{shared("engine", "Engine that simulated: `native` or `simgrid`; `native+simgrid` where "
                            "both did, which must agree"),
           [](const R& r) { return joined(r.e->engines, "+"); }},
          {shared("link_busy"), [](const R& r) { return to_text(r.e->model.link_busy); }},
          {shared("forwarding"), [](const R& r) { return to_text(r.e->model.forwarding); }},
          {{"one_at_a_time", truth, key, always,
            "Whether an NPU has one communication under way at a time, as in ASTRA-sim"},
           [](const R& r) { return r.e->one_at_a_time; }},
          {{"reduce_rate_bytes_per_s", rate, key, always,
            "Rate of local reductions at NPUs that state none of their own; 0: they take no time"},
           [](const R& r) { return r.e->model.reduce_rate; }},
          {shared("status", "`feasible` where the iterations were simulated; `defect`, and what "
                            "else may end it, as for runs"),
           [](const R& r) {
             if (!r.run->problem.empty()) return Cell("defect");
             return Cell(to_text(r.run->report ? Status::feasible : r.run->status));
           }},
          {shared("note", "Why nothing was simulated, in words; null where something was. A defect "
                          "stands in `problem` of the JSON"),
           [](const R& r) { return r.run->note; }},
          {{"iterations", count, key, always,
            "Number of iterations that were simulated, one after another"},
           [](const R& r) { return r.run->workload.iterations; }}};
}

/// `part`, a sum over NPUs, as a fraction of the time of all NPUs together: the mean over NPUs.
Cell fraction(const TrainingRun& run, Time part) {
  const double whole = static_cast<double>(run.report->duration.ps) * static_cast<double>(run.npus);
  return whole > 0 ? static_cast<double>(part.ps) / whole : 0;
}

Fields<TrainingRun> iteration_fields() {
  using namespace column_words;
  using R = TrainingRun;
  const auto sum = [](const R& r) { return summed_accounts(*r.report); };
  Fields<R> fields{
      {{"iteration_time_ps", time, metric, sometimes, "`duration_ps / iterations`, rounded down", 0,
        "iteration"},
       [](const R& r) { return r.iteration_time(); }},
      {{"iterations_per_s", number, metric, sometimes,
        "`iterations / duration`, with the duration in seconds [1/s]", 0, "", higher},
       [](const R& r) { return r.workload.iterations / r.report->duration.seconds(); }},
      {{"items_per_s", number, metric, sometimes,
        "Throughput: items (samples, tokens) of an iteration over all NPUs, times `iterations / "
        "duration`; null where the workload doesn't say how many items it has [1/s]",
        0, "", higher},
       [](const R& r) { return positive(r.items_per_second()); }},
      {{"flops_utilisation", number, metric, sometimes,
        "Floating-point operations of all iterations over what the NPUs could do in that time at "
        "their peak: `flops * iterations / (npus * peak * duration)`; 0 to 1; null where flops or "
        "peak are unknown",
        0, "", higher},
       [](const R& r) { return positive(r.flops_utilisation()); }},
      {shared("lower_bound_ps", "No run of all iterations by these plans takes less: the longest "
                                "that an NPU computes, or that a planned collective takes at least "
                                "when it is alone. To be compared with `duration_ps`"),
       [](const R& r) { return r.bound; }},
      {{"exposed_ps", time, metric, sometimes,
        "Exposed communication of an iteration, mean over NPUs: the time in which an NPU computes "
        "nothing and what its next operation waits for is communication under way; the sum of all "
        "`sum_exposed_*_ps` over `npus * iterations`"},
       [=](const R& r) { // of an iteration, mean over NPUs
         return Time{std::llround(static_cast<double>(exposed_time(sum(r)).ps) /
                                  (static_cast<double>(r.npus) * r.workload.iterations))};
       }},
      {{"exposed_fraction", part, metric, sometimes,
        "The sum of all `sum_exposed_*_ps` over `npus * duration_ps`; 0 to 1"},
       [=](const R& r) { return fraction(r, exposed_time(sum(r))); }}};
  for (std::size_t p = 0; p < purpose_count; ++p)
    fields.push_back({{fmt::format("exposed_{}_fraction", to_text(static_cast<Purpose>(p))), part,
                       metric, sometimes,
                       fmt::format("`sum_exposed_{}_ps / (npus * duration_ps)`; 0 to 1",
                                   to_text(static_cast<Purpose>(p)))},
                      [=](const R& r) { return fraction(r, sum(r).exposed[p]); }});
  extend(fields, {{{"bubble_fraction", part, metric, sometimes,
                    "`sum_bubble_ps / (npus * duration_ps)`; 0 to 1"},
                   [=](const R& r) { return fraction(r, sum(r).bubble); }},
                  {{"waiting_fraction", part, metric, sometimes,
                    "`sum_waiting_ps / (npus * duration_ps)`; 0 to 1"},
                   [=](const R& r) { return fraction(r, sum(r).waiting); }},
                  {{"compute_fraction", part, metric, sometimes,
                    "`sum_compute_ps / (npus * duration_ps)`; 0 to 1. The fractions of compute, "
                    "bubble, waiting and exposed communication add up to 1",
                    0, "", higher},
                   [=](const R& r) { return fraction(r, sum(r).compute); }},
                  {{"hidden_fraction", part, metric, sometimes,
                    "Part of communication that computing hides: 1 less exposed time over time "
                    "under way, each summed over NPUs and purposes; 1 where nothing communicates",
                    0, "hidden", higher},
                   [](const R& r) { return hidden_part(*r.report); }},
                  {shared("duration_ps"), [](const R& r) { return r.report->duration; }}});
  return fields;
}

std::string_view words_of(Purpose purpose) {
  switch (purpose) {
  case Purpose::data: return "gradients among replicas";
  case Purpose::sharding: return "parameters of which each replica holds a part (ZeRO-3, FSDP)";
  case Purpose::tensor: return "activations among the NPUs that share a layer";
  case Purpose::pipeline: return "activations and their gradients between pipeline stages";
  case Purpose::expert: return "tokens to their experts and back";
  case Purpose::other: break;
  }
  return "unknown, as in most traces";
}

/// Compute, exposed communication by purpose, bubbles and waiting; `over`: what they are sums over.
Fields<TimeAccount> account_fields(const std::string& prefix, std::string_view over) {
  using namespace column_words;
  using A = TimeAccount;
  Fields<A> fields{{{prefix + "compute_ps", time, metric, sometimes,
                     fmt::format("Time in which an NPU computes, {}", over)},
                    [](const A& account) { return account.compute; }}};
  for (std::size_t p = 0; p < purpose_count; ++p) {
    const auto purpose = static_cast<Purpose>(p);
    fields.push_back(
        {{fmt::format("{}exposed_{}_ps", prefix, to_text(purpose)), time, metric, sometimes,
          fmt::format("Exposed communication for {}, {}: {}", to_text(purpose), over,
                      words_of(purpose))},
         [p](const A& account) { return account.exposed[p]; }});
  }
  fields.push_back(
      {{prefix + "bubble_ps", time, metric, sometimes,
        fmt::format("Pipeline bubbles, {}: time in which an NPU computes nothing since another "
                    "pipeline stage hasn't begun what it waits for; of NPUs with pipeline "
                    "communication also the time after their last operation",
                    over)},
       [](const A& account) { return account.bubble; }});
  fields.push_back(
      {{prefix + "waiting_ps", time, metric, sometimes,
        fmt::format("Other waiting, {}: time in which an NPU computes nothing since a member of a "
                    "collective, or a sender, isn't there yet; of NPUs without pipeline "
                    "communication also the time after their last operation",
                    over)},
       [](const A& account) { return account.waiting; }});
  return fields;
}

Fields<TrainingRun> summed_fields() {
  using namespace column_words;
  Fields<TrainingRun> fields;
  for (const Field<TimeAccount>& field : account_fields("sum_", "summed over NPUs and iterations"))
    fields.push_back({field.column, [value = field.value](const TrainingRun& run) {
                        return value(summed_accounts(*run.report));
                      }});
  return fields;
}

Fields<TrainingRun> work_fields() {
  using namespace column_words;
  using R = TrainingRun;
  const auto reported = [](auto member) {
    return [member](const R& r) { return r.report ? Cell((*r.report).*member) : Cell(); };
  };
  return {
      {{"memory_bytes", bytes, metric, sometimes,
        "Estimate of what the NPU that needs most has to hold: parameters, gradients, optimizer "
        "state and activations; null where the workload doesn't say, as texts and traces"},
       [](const R& r) { return r.workload.memory ? Cell(r.workload.memory->total()) : Cell(); }},
      {{"link_crossings", count, metric, sometimes,
        "Number of times that a transfer crosses a link, over all iterations"},
       reported(&IterationReport::link_transfers)},
      {{"replayed_crossings", count, metric, sometimes,
        "Number of crossings that were simulated one by one; what meets no other communication is "
        "taken from one replay of the same plan alone. It exceeds `link_crossings` where what was "
        "replayed alone met others later, and was simulated again"},
       reported(&IterationReport::replayed)},
      {shared("synthesis_seconds", "CPU time of planning all communication; little where schedules "
                                   "were remembered, or those of the undisturbed run are used"),
       [](const R& r) { return r.planning_seconds; }},
      {shared("replay_seconds", "CPU time of the simulation, on all engines"),
       [](const R& r) { return r.run_seconds; }}};
}

struct NpuRow {
  IterationRow row;
  std::size_t npu;

  [[nodiscard]] const IterationReport& report() const { return *row.run->report; }
};

/// Where 90 % of measured times are expected.
Fields<TrainingRun> interval_fields() {
  using namespace column_words;
  const auto end = [](Time Interval::*which) {
    return
        [which](const TrainingRun& r) { return r.interval ? Cell((*r.interval).*which) : Cell(); };
  };
  return {
      {shared(
           "time_low_ps",
           "Between this and `time_high_ps` 90 % of what is measured is expected of an iteration, "
           "were computing as its profile says; null where the transport doesn't know"),
       end(&Interval::low)},
      {shared("time_high_ps"), end(&Interval::high)}};
}

Fields<NpuRow> npu_fields() {
  using namespace column_words;
  using R = NpuRow;
  Fields<R> fields = fields_through<R>(label_fields(), [](const R& r) { return &r.row; });
  fields.push_back(
      {{"npu", count, key, always, "Number of the NPU"}, [](const R& r) { return r.npu; }});
  extend(fields, fields_through<R>(account_fields("", "over all iterations"),
                                   [](const R& r) { return &r.report().accounts[r.npu]; }));
  fields.push_back({shared("duration_ps"), [](const R& r) { return r.report().duration; }});
  for (std::size_t p = 0; p < purpose_count; ++p)
    fields.push_back(
        {{fmt::format("under_way_{}_ps", to_text(static_cast<Purpose>(p))), time, metric, sometimes,
          fmt::format("Time in which communication for {} is under way at the NPU, hidden or "
                      "exposed; several at once count once",
                      to_text(static_cast<Purpose>(p)))},
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
    fields.push_back({shared("transport", "What a runtime made of the links: `ideal`, `nccl`; "
                                          "there only where some row has another than `ideal`"),
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

std::vector<RecordFile> TrainingStudy::files() {
  ExploredChart where_time_goes{
      .kind = ExploredChart::Kind::parts,
      .x = {},
      .y = {"compute_fraction"},
      .by = {"topology", "variant", "algorithm", "transport", "condition", "failed_links", "seed"}};
  for (std::size_t p = 0; p < purpose_count; ++p)
    where_time_goes.y.push_back(
        fmt::format("exposed_{}_fraction", to_text(static_cast<Purpose>(p))));
  where_time_goes.y.insert(where_time_goes.y.end(), {"bubble_fraction", "waiting_fraction"});
  return {{"training", records_of<IterationRow>(fields_with(true, true), {}), true,
           std::move(where_time_goes)},
          {"training_npus", npu_records({})}};
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
