// Every column of a run, once. Rows are replays, since a case may be replayed under several
// disciplines; what its schedule is stands in each of them.
#include "experiments/driver/studies/runs/records.hpp"

#include "experiments/driver/studies/runs/study.hpp"
#include "experiments/driver/studies/shared_columns.hpp"

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
  using namespace column_words;
  return {
      {shared("label"), [](const E& e) { return e.run; }},
      {shared("topology"), [](const E& e) { return e.topology; }},
      {shared("npus"), [](const E& e) { return e.npus; }},
      {shared("collective"), [](const E& e) { return e.collective; }},
      {shared("size_bytes"), [](const E& e) { return e.size; }},
      {shared("algorithm"), [](const E& e) { return e.algorithm; }},
      {{"routing", text, note, sometimes,
        "How the algorithm chose the paths between NPUs: `shortest`, `single`, `ecmp-hash,seed=0` "
        "or `dimension-order`; null where it plans link by link and needs no routing, or has no "
        "schedule"},
       [](const E& e) { return Cell::of_text(e.routing); }},
      {shared("chunks_per_shard"), [](const E& e) { return e.chunks_per_shard; }},
      {shared("chunks"), [](const E& e) { return e.chunks; }},
      {shared("transfers"), of_schedule(&E::transfers)},
      {{"redundant", count, metric, sometimes,
        "Number of transfers that copy a chunk to where it already is; null without a schedule"},
       of_schedule(&E::redundant)},
      {shared("status"),
       [](const E& e) { return e.problem.empty() ? to_text(e.status) : "defect"; }},
      {shared("verified"), [](const E& e) { return e.verified; }},
      {shared("note"), [](const E& e) { return e.problem.empty() ? e.note : e.problem; }},
      {{"hottest_link", text, note, sometimes,
        "Link that was busy longest in the first replay of the case: `npu3>npu4`; `npu3>npu4 +2` "
        "where two more were busy as long; null without a replay"},
       [](const E& e) { return Cell::of_text(e.hottest_link); }},
      {{"bottleneck", text, note, sometimes,
        "What is full in the first replay: the hottest link, or the shared group that its links "
        "keep busy for longer than any link is: `slot of npu0 out (4 links)`; null without a "
        "replay"},
       [](const E& e) { return Cell::of_text(e.bottleneck); }}};
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
  using namespace column_words;
  const auto attempts = [](auto member) {
    return [member](const E& e) { return e.attempts ? Cell((*e.attempts).*member) : Cell(); };
  };
  return {{{"planned_time_ps", time, metric, sometimes,
            "Time that the algorithm itself expects of its schedule, on its own picture of the "
            "network; null where it states none"},
           [](const E& e) { return Cell(e.planned); }},
          {{"planned_ratio", ratio, metric, sometimes,
            "`planned_time_ps / collective_time_ps` of the first replay of the case; below 1 the "
            "algorithm was too optimistic"},
           planned_ratio},
          {{"planned_on", text, note, sometimes,
            "Picture of the network on which `planned_time_ps` holds, in words; null where it is "
            "the network itself, or nothing is stated"},
           [](const E& e) { return e.planned_on; }},
          {{"attempts", count, metric, sometimes,
            "Number of times that the synthesis was started, with other random choices each time, "
            "of which the best is the answer; under `ecmp-hash` the number of seeds that were "
            "replayed; null where one start was enough"},
           attempts(&AttemptSpread::count)},
          {{"attempts_best_ps", time, metric, sometimes,
            "Least time of these attempts, as the algorithm compares them: planned, or replayed "
            "where it plans on several pictures of the network"},
           attempts(&AttemptSpread::best)},
          {{"attempts_median_ps", time, metric, sometimes,
            "Median of the times of these attempts; of an even number the lesser of the two in the "
            "middle"},
           attempts(&AttemptSpread::median)},
          {{"attempts_worst_ps", time, metric, sometimes, "Largest time of these attempts"},
           attempts(&AttemptSpread::worst)}};
}

RecordColumn fact_column(const std::string& name, Presence presence) {
  return {"fact:" + name, Quantity::fact, ColumnRole::metric, presence,
          "What the algorithm states of its answer, under a name of its own; null for algorithms "
          "that state no such thing"};
}

/// Facts that some evaluation has, ascending.
Fields<Evaluation> fact_fields(std::span<const Evaluation> evaluations) {
  std::set<std::string> names;
  for (const Evaluation& e : evaluations)
    for (const auto& [name, value] : e.facts) names.insert(name);
  Fields<Evaluation> fields;
  for (const std::string& name : names) {
    fields.push_back({fact_column(name, Presence::optional), [name](const Evaluation& e) {
                        const auto found = e.facts.find(name);
                        return found == e.facts.end() ? Cell() : Cell(found->second);
                      }});
  }
  return fields;
}

Fields<Evaluation> cost_fields() {
  using E = Evaluation;
  using namespace column_words;
  return {{shared("synthesis_seconds"), [](const E& e) { return e.synthesis_seconds; }},
          {{"verify_seconds", effort, cost, sometimes,
            "CPU time of verification, over all numbers of chunks that were tried"},
           [](const E& e) { return e.verify_seconds; }},
          {shared("replay_seconds"), [](const E& e) { return e.replay_seconds; }},
          {shared("bound_seconds"), [](const E& e) { return e.bound_seconds; }},
          {{"peak_rss_bytes", bytes, cost, sometimes,
            "Largest resident set of the process that evaluated the case, up to its end; SimGrid's "
            "process isn't counted"},
           [](const E& e) { return e.peak_rss_bytes; }}};
}

} // namespace

const Fields<Replay>& replay_fields() {
  using R = Replay;
  using namespace column_words;
  static const Fields<Replay> fields{
      {shared("engine"), [](const R& r) { return r.report.engine; }},
      {{"discipline", text, key, sometimes,
        "How transfers share a link. `fifo`: one at a time, in order of entry. `fluid`: all at "
        "once, at max-min fair rates; `fluid cm02`, `fluid lv08`, `fluid smpi`, `fluid ib`: as "
        "SimGrid's model of that name shares. Null without a replay"},
       [](const R& r) { return discipline_text(r.report.model); }},
      {shared("link_busy"), [](const R& r) { return to_text(r.report.model.link_busy); }},
      {shared("forwarding"), [](const R& r) { return to_text(r.report.model.forwarding); }},
      {shared("collective_time_ps"), [](const R& r) { return r.report.completion; }},
      {shared("lower_bound_ps"), [](const R& r) { return r.bound.time; }},
      {shared("lower_bound_kind"), [](const R& r) { return r.bound.kind; }},
      {shared("gap"), [](const R& r) { return r.gap(); }},
      {{"lower_bound_at_chunks_ps", time, metric, sometimes,
        "Best lower bound that is known for schedules that move the chunks of this cut as wholes; "
        "at least `lower_bound_ps`"},
       [](const R& r) { return r.bound_at_chunks.time; }},
      {shared("gap_at_chunks"), [](const R& r) { return r.gap_at_chunks(); }},
      {shared("algbw_bytes_per_s"), [](const R& r) { return r.algbw; }},
      {shared("busbw_bytes_per_s"), [](const R& r) { return r.busbw; }},
      {{"max_link_utilisation", part, metric, sometimes,
        "Time for which the busiest link is occupied, as `link_busy` says (under `fluid`: its "
        "bytes over its bandwidth), over the collective time; 0 to 1",
        0, "max link", higher},
       [](const R& r) { return r.max_utilisation(); }},
      {{"mean_link_utilisation", part, metric, sometimes,
        "Time for which a link is occupied over the collective time, mean over all links of the "
        "network, unused ones included; 0 to 1",
        0, "mean link", higher},
       [](const R& r) { return r.mean_utilisation(); }}};
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
  using namespace column_words;
  const auto evaluation = [](const RunRow& row) { return row.e; };
  const auto replay = [](const RunRow& row) { return row.replay; };
  Fields<RunRow> fields = fields_through<RunRow>(case_fields(), evaluation);
  extend(fields, fields_through<RunRow>(replay_fields(), replay));
  if (columns.transport) {
    const auto of_interval = [](Time Interval::*end) {
      return [end](const Replay& r) { return r.interval ? Cell((*r.interval).*end) : Cell(); };
    };
    const Fields<Replay> of_transport{
        {shared("transport"), [](const Replay& r) { return Cell::of_text(r.transport); }},
        {shared("time_low_ps"), of_interval(&Interval::low)},
        {shared("time_high_ps"), of_interval(&Interval::high)}};
    extend(fields, fields_through<RunRow>(of_transport, replay));
  }
  if (columns.over_nccl) {
    const Fields<Replay> field{
        {{"over_nccl", ratio, metric, optional,
          "How many times as fast as NCCL (RCCL on AMD's NPUs): its `collective_time_ps` for the "
          "same problem over this one. Its schedule is replayed as all are, under ideal links or a "
          "transport. Null also where no runtime takes the schedule (the note says why)",
          0, "x over nccl", higher},
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

std::vector<RecordFile> RunStudy::files() {
  Records records = records_of<RunRow>(run_fields({}, {true, true, true}), {});
  const auto costs = std::ranges::find(records.columns, ColumnRole::cost, &RecordColumn::role);
  records.columns.insert(costs, fact_column("NAME", Presence::family));
  return {{"results", std::move(records), true,
           ExploredChart{
               ExploredChart::Kind::curves,
               "size_bytes",
               {"collective_time_ps"},
               {"label", "topology", "collective", "algorithm", "chunks_per_shard", "discipline"},
               "time_low_ps",
               "time_high_ps"}}};
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
