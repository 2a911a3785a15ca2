// Accounts are sums over NPUs and iterations, which are exact in picoseconds; whoever wants means
// divides them. Nothing stands where a run has no report, or a text no flops.
#include "experiments/driver/studies/training/records.hpp"

#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
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

/// Under a transport.
Fields<IterationRow> transport_fields() {
  using R = IterationRow;
  const auto end = [](Time Interval::*which) {
    return
        [which](const R& r) { return r.run->interval ? Cell((*r.run->interval).*which) : Cell(); };
  };
  return {
      {{"transport", Quantity::text, ColumnRole::key}, [](const R& r) { return r.run->transport; }},
      {{"time_low_ps", Quantity::time, ColumnRole::metric}, end(&Interval::low)},
      {{"time_high_ps", Quantity::time, ColumnRole::metric}, end(&Interval::high)}};
}

bool has_transport(const TrainingEvaluation& e) {
  return std::ranges::any_of(e.runs,
                             [](const TrainingRun& run) { return run.transport != "ideal"; });
}

Fields<IterationRow> fields_with(bool noise, bool transport) {
  using R = IterationRow;
  Fields<R> fields = label_fields();
  extend(fields, model_fields());
  if (transport) extend(fields, transport_fields());
  extend(fields, fields_through<R>(iteration_fields(), reported));
  extend(fields, fields_through<R>(summed_fields(), reported));
  if (noise) extend(fields, fields_through<R>(noise_fields(), [](const R& r) { return r.noise; }));
  extend(fields, fields_through<R>(work_fields(), [](const R& r) { return r.run; }));
  return fields;
}

} // namespace

Records training_records(std::span<const TrainingEvaluation> evaluations) {
  std::vector<IterationRow> rows;
  for (const TrainingEvaluation& e : evaluations)
    for (const TrainingRun& run : e.runs)
      for (const NoiseOutcome* noise : noises_of(run)) rows.push_back({&e, &run, noise});
  const bool transport = std::ranges::any_of(evaluations, has_transport);
  return records_of<IterationRow>(
      fields_with(std::ranges::any_of(evaluations, has_noise), transport), rows);
}

std::vector<RecordColumn> training_columns() {
  return records_of<IterationRow>(fields_with(true, true), {}).columns;
}

std::vector<const NoiseOutcome*> noises_of(const TrainingRun& run) {
  if (run.noises.empty()) return {nullptr};
  std::vector<const NoiseOutcome*> noises;
  for (const NoiseOutcome& noise : run.noises) noises.push_back(&noise);
  return noises;
}

Records npu_records(std::span<const TrainingEvaluation> evaluations) {
  std::vector<NpuRow> rows;
  for (const TrainingEvaluation& e : evaluations)
    for (const TrainingRun& run : e.runs)
      for (std::size_t npu = 0; run.report && npu < run.report->accounts.size(); ++npu)
        rows.push_back({{&e, &run}, npu});
  return records_of<NpuRow>(npu_fields(), rows);
}

} // namespace tutti
