// Every column of a run, once. Rows are replays, since a case may be replayed under several
// disciplines; what its schedule is stands in each of them.
#include "experiments/driver/studies/runs/records.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

Fields<Evaluation> case_fields() {
  using E = Evaluation;
  const auto of_schedule = [](auto member) {
    return
        [member](const E& e) { return e.transfers > 0 || e.verified ? Cell(e.*member) : Cell(); };
  };
  using enum Quantity;
  using enum ColumnRole;
  return {{{"label", text, key}, [](const E& e) { return e.run; }},
          {{"topology", text, key}, [](const E& e) { return e.topology; }},
          {{"npus", count, key}, [](const E& e) { return e.npus; }},
          {{"collective", text, key}, [](const E& e) { return e.collective; }},
          {{"size_bytes", bytes, key}, [](const E& e) { return e.size; }},
          {{"algorithm", text, key}, [](const E& e) { return e.algorithm; }},
          {{"routing", text, note}, [](const E& e) { return Cell::of_text(e.routing); }},
          {{"chunks_per_shard", count, metric}, [](const E& e) { return e.chunks_per_shard; }},
          {{"chunks", count, key}, [](const E& e) { return e.chunks; }},
          {{"transfers", count, metric}, of_schedule(&E::transfers)},
          {{"redundant", count, metric}, of_schedule(&E::redundant)},
          {{"status", text, note},
           [](const E& e) { return e.problem.empty() ? to_text(e.status) : "defect"; }},
          {{"verified", truth, note}, [](const E& e) { return e.verified; }},
          {{"note", text, note}, [](const E& e) { return e.problem.empty() ? e.note : e.problem; }},
          {{"hottest_link", text, note}, [](const E& e) { return Cell::of_text(e.hottest_link); }},
          {{"bottleneck", text, note}, [](const E& e) { return Cell::of_text(e.bottleneck); }}};
}

/// Planned time over that of the first replay; below 1 the algorithm expected too much.
Cell planned_ratio(const Evaluation& e) {
  if (!e.planned || e.replays.empty()) return {};
  return static_cast<double>(e.planned->ps) /
         static_cast<double>(e.replays.front().report.completion.ps);
}

/// What the algorithm expects, and of how many attempts it is the best.
Fields<Evaluation> plan_fields() {
  using E = Evaluation;
  using enum Quantity;
  using enum ColumnRole;
  const auto attempts = [](auto member) {
    return [member](const E& e) { return e.attempts ? Cell((*e.attempts).*member) : Cell(); };
  };
  return {{{"planned_time_ps", time, metric}, [](const E& e) { return Cell(e.planned); }},
          {{"planned_ratio", ratio, metric}, planned_ratio},
          {{"planned_on", text, note}, [](const E& e) { return e.planned_on; }},
          {{"attempts", count, metric}, attempts(&AttemptSpread::count)},
          {{"attempts_best_ps", time, metric}, attempts(&AttemptSpread::best)},
          {{"attempts_median_ps", time, metric}, attempts(&AttemptSpread::median)},
          {{"attempts_worst_ps", time, metric}, attempts(&AttemptSpread::worst)}};
}

/// Facts that some evaluation has, ascending.
Fields<Evaluation> fact_fields(std::span<const Evaluation> evaluations) {
  std::set<std::string> names;
  for (const Evaluation& e : evaluations)
    for (const auto& [name, value] : e.facts) names.insert(name);
  Fields<Evaluation> fields;
  for (const std::string& name : names) {
    const RecordColumn column{"fact:" + name, Quantity::fact, ColumnRole::metric};
    fields.push_back({column, [name](const Evaluation& e) {
                        const auto found = e.facts.find(name);
                        return found == e.facts.end() ? Cell() : Cell(found->second);
                      }});
  }
  return fields;
}

Fields<Evaluation> cost_fields() {
  using E = Evaluation;
  using enum Quantity;
  using enum ColumnRole;
  return {{{"synthesis_seconds", effort, cost}, [](const E& e) { return e.synthesis_seconds; }},
          {{"verify_seconds", effort, cost}, [](const E& e) { return e.verify_seconds; }},
          {{"replay_seconds", effort, cost}, [](const E& e) { return e.replay_seconds; }},
          {{"bound_seconds", effort, cost}, [](const E& e) { return e.bound_seconds; }},
          {{"peak_rss_bytes", bytes, cost}, [](const E& e) { return e.peak_rss_bytes; }}};
}

} // namespace

const Fields<Replay>& replay_fields() {
  using R = Replay;
  using enum Quantity;
  using enum ColumnRole;
  static const Fields<Replay> fields{
      {{"engine", text, key}, [](const R& r) { return r.report.engine; }},
      {{"discipline", text, key}, [](const R& r) { return discipline_text(r.report.model); }},
      {{"link_busy", text, key}, [](const R& r) { return to_text(r.report.model.link_busy); }},
      {{"forwarding", text, key}, [](const R& r) { return to_text(r.report.model.forwarding); }},
      {{"collective_time_ps", time, metric}, [](const R& r) { return r.report.completion; }},
      {{"lower_bound_ps", time, metric}, [](const R& r) { return r.bound.time; }},
      {{"lower_bound_kind", text, note}, [](const R& r) { return r.bound.kind; }},
      {{"gap", ratio, metric}, [](const R& r) { return r.gap(); }},
      {{"lower_bound_at_chunks_ps", time, metric},
       [](const R& r) { return r.bound_at_chunks.time; }},
      {{"gap_at_chunks", ratio, metric}, [](const R& r) { return r.gap_at_chunks(); }},
      {{"algbw_bytes_per_s", rate, metric}, [](const R& r) { return r.algbw; }},
      {{"busbw_bytes_per_s", rate, metric}, [](const R& r) { return r.busbw; }},
      {{"max_link_utilisation", part, metric}, [](const R& r) { return r.max_utilisation(); }},
      {{"mean_link_utilisation", part, metric}, [](const R& r) { return r.mean_utilisation(); }}};
  return fields;
}

namespace {

bool has_noise(const Evaluation& e) {
  return std::ranges::any_of(e.replays,
                             [](const Replay& replay) { return !replay.noises.empty(); });
}

bool is_over_nccl(const Evaluation& e) {
  return std::ranges::any_of(e.replays,
                             [](const Replay& replay) { return replay.over_nccl.has_value(); });
}

bool has_transport(const Evaluation& e) {
  return std::ranges::any_of(e.replays,
                             [](const Replay& replay) { return !replay.transport.empty(); });
}

} // namespace

Fields<RunRow> run_fields(std::span<const Evaluation> evaluations,
                          const OptionalRunColumns& columns) {
  const auto evaluation = [](const RunRow& row) { return row.e; };
  const auto replay = [](const RunRow& row) { return row.replay; };
  Fields<RunRow> fields = fields_through<RunRow>(case_fields(), evaluation);
  extend(fields, fields_through<RunRow>(replay_fields(), replay));
  if (columns.transport) {
    const auto of_interval = [](Time Interval::*end) {
      return [end](const Replay& r) { return r.interval ? Cell((*r.interval).*end) : Cell(); };
    };
    const Fields<Replay> of_transport{
        {{"transport", Quantity::text, ColumnRole::key},
         [](const Replay& r) { return Cell::of_text(r.transport); }},
        {{"time_low_ps", Quantity::time, ColumnRole::metric}, of_interval(&Interval::low)},
        {{"time_high_ps", Quantity::time, ColumnRole::metric}, of_interval(&Interval::high)}};
    extend(fields, fields_through<RunRow>(of_transport, replay));
  }
  if (columns.over_nccl) {
    const Fields<Replay> field{{{"over_nccl", Quantity::ratio, ColumnRole::metric},
                                [](const Replay& r) { return Cell(r.over_nccl); }}};
    extend(fields, fields_through<RunRow>(field, replay));
  }
  if (columns.noise)
    extend(fields, fields_through<RunRow>(noise_fields(), [](const RunRow& r) { return r.noise; }));
  for (const Fields<Evaluation>& more : {plan_fields(), fact_fields(evaluations), cost_fields()})
    extend(fields, fields_through<RunRow>(more, evaluation));
  return fields;
}

OptionalRunColumns optional_columns(std::span<const Evaluation> evaluations) {
  return {std::ranges::any_of(evaluations, has_transport),
          std::ranges::any_of(evaluations, is_over_nccl),
          std::ranges::any_of(evaluations, has_noise)};
}

std::vector<const NoiseOutcome*> noises_of(const Replay& replay) {
  if (replay.noises.empty()) return {nullptr};
  std::vector<const NoiseOutcome*> noises;
  for (const NoiseOutcome& noise : replay.noises) noises.push_back(&noise);
  return noises;
}

std::vector<RecordColumn> run_columns() {
  return records_of<RunRow>(run_fields({}, {true, true, true}), {}).columns;
}

std::function<Cell(const Evaluation&)> run_column(const std::string& name) {
  for (Field<RunRow>& field : run_fields({}, {true, true, true}))
    if (field.column.name == name)
      return [value = std::move(field.value)](const Evaluation& e) {
        const Replay* first = e.replays.empty() ? nullptr : &e.replays.front();
        return value({&e, first, first == nullptr ? nullptr : noises_of(*first).front()});
      };
  return [name](const Evaluation& e) { // any other column is a fact
    const auto found = e.facts.find(name.substr(name.find(':') + 1));
    return found == e.facts.end() ? Cell() : Cell(found->second);
  };
}

Records run_records(std::span<const Evaluation> evaluations) {
  std::vector<RunRow> rows;
  for (const Evaluation& e : evaluations) {
    if (e.replays.empty()) rows.push_back({&e, nullptr});
    for (const Replay& replay : e.replays)
      for (const NoiseOutcome* noise : noises_of(replay)) rows.push_back({&e, &replay, noise});
  }
  return records_of<RunRow>(run_fields(evaluations, optional_columns(evaluations)), rows);
}

} // namespace tutti
