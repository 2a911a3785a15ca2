// What was measured stands beside what was predicted; a run that didn't happen has neither.
#include "experiments/driver/studies/executions/records.hpp"

#include "experiments/driver/studies/executions/prediction.hpp"

#include <algorithm>
#include <vector>

namespace tutti {

namespace {

Fields<ExecutionRow> case_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = ExecutionRow;
  const auto lowered = [](auto member) { // 0: there is no program
    return [member](const R& r) { return r.run->*member > 0 ? Cell(r.run->*member) : Cell(); };
  };
  return {{{"label", text, key}, [](const R& r) { return r.e->label; }},
          {{"topology", text, key}, [](const R& r) { return r.e->topology; }},
          {{"backend", text, key}, [](const R& r) { return r.e->backend; }},
          {{"links", text, key}, [](const R& r) { return r.e->emulated ? "emulated" : "real"; }},
          {{"collective", text, key}, [](const R& r) { return r.e->collective; }},
          {{"size_bytes", bytes, key}, [](const R& r) { return r.run->size; }},
          {{"algorithm", text, key}, [](const R& r) { return r.run->algorithm; }},
          {{"chunks_per_shard", count, metric}, lowered(&ExecutionRun::chunks_per_shard)},
          {{"type", text, key}, [](const R& r) { return to_text(r.e->type); }},
          {{"op", text, key}, [](const R& r) { return to_text(r.e->combine); }},
          {{"in_place", truth, key}, [](const R& r) { return r.e->in_place; }},
          {{"instances", count, key}, [](const R& r) { return r.e->instances; }},
          {{"blocks", count, metric}, lowered(&ExecutionRun::blocks)},
          {{"steps", count, metric}, lowered(&ExecutionRun::steps)},
          {{"channels", count, metric}, lowered(&ExecutionRun::channels)}};
}

/// Fields of a run that was executed.
Fields<ExecutionRun> measured_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = ExecutionRun;
  return {{{"measured_seconds", seconds, metric}, [](const R& r) { return r.measured(); }},
          {{"least_seconds", seconds, metric},
           [](const R& r) { return std::ranges::min(r.execution->seconds); }},
          {{"most_seconds", seconds, metric},
           [](const R& r) { return std::ranges::max(r.execution->seconds); }},
          {{"predicted_time_ps", time, metric},
           [](const R& r) { return r.predicted.empty() ? Cell() : Cell(r.predicted.front()); }},
          {{"measured_over_predicted", ratio, metric},
           [](const R& r) { return r.predicted.empty() ? Cell() : Cell(r.ratio()); }},
          {{"ratio_spread", ratio, metric}, [](const R& r) { return Cell(r.ratio_spread()); }},
          {{"algbw_bytes_per_s", rate, metric}, [](const R& r) { return r.algbw; }},
          {{"busbw_bytes_per_s", rate, metric}, [](const R& r) { return r.busbw; }},
          {{"checked", count, metric}, [](const R& r) { return r.execution->check.checked; }},
          {{"wrong", count, metric}, [](const R& r) { return r.execution->check.wrong; }}};
}

} // namespace

Fields<ExecutionRow> execution_fields(bool fitted) {
  using enum Quantity;
  using enum ColumnRole;
  Fields<ExecutionRow> fields = case_fields();
  if (fitted)
    fields.push_back({{"fitted", truth, key}, [](const ExecutionRow& r) { return r.run->fitted; }});
  extend(fields, fields_through<ExecutionRow>(measured_fields(), [](const ExecutionRow& r) {
           return r.run->execution ? r.run : nullptr;
         }));
  const auto share = [](auto member) {
    return [member](const ExecutionRow& r) {
      const auto found = rate_share(*r.e, *r.run);
      return found ? Cell((*found).*member) : Cell();
    };
  };
  fields.push_back({{"copy_rate_fraction", part, metric}, share(&RateShare::sent)});
  fields.push_back({{"memory_rate_fraction", part, metric}, share(&RateShare::memory)});
  fields.push_back({{"note", text, note}, [](const ExecutionRow& r) { return r.run->note; }});
  return fields;
}

Records execution_records(std::span<const ExecutionEvaluation> evaluations) {
  std::vector<ExecutionRow> rows;
  for (const ExecutionEvaluation& e : evaluations)
    for (const ExecutionRun& run : e.runs) rows.push_back({&e, &run});
  return records_of<ExecutionRow>(
      execution_fields(std::ranges::any_of(evaluations, &ExecutionEvaluation::fits_half)), rows);
}

std::vector<RecordColumn> execution_columns() {
  return records_of<ExecutionRow>(execution_fields(true), {}).columns;
}

} // namespace tutti
