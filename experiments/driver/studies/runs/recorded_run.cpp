// Evaluations come back from worker processes without schedules and hops, which can be gigabytes.
// The few figures that need them make the run again: synthesis is deterministic, and the times are
// compared so that a figure never shows another run than the table does.
#include "experiments/driver/studies/runs/recorded_run.hpp"

#include "sim/compact_schedule.hpp"
#include "sim/error.hpp"
#include "synth/chunk_choice.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti {

RecordedRun record_run(const Case& c, const Evaluation& e) {
  const Report& first = e.replays.front().report;
  const std::string name = fmt::format("{} on {}", e.algorithm, e.topology);
  if (first.model.discipline != Discipline::fifo)
    throw InputError(fmt::format("{}: only fifo is recorded, not fluid", name));
  SynthesisOptions options = c.options;
  const CollectiveMaker make = [&c](std::uint32_t chunks_per_shard) {
    return make_collective(*c.topology, c.collective, chunks_per_shard);
  };
  options.choose_chunks =
      !c.chunks && c.algorithm.chooses_chunks && chooses_chunks(c.algorithm, make(1), make);
  Collective collective = make(options.choose_chunks ? 1 : e.chunks_per_shard);
  options.model = first.model;
  Outcome outcome = synthesize(c.algorithm, *c.topology, collective, options);
  if (options.choose_chunks) collective = make(outcome.parts_per_chunk);
  if (!outcome.schedule && outcome.compact)
    outcome.schedule = expanded(*c.topology, collective, *outcome.compact);
  if (!outcome.schedule) throw InputError(fmt::format("{}: no schedule the second time", name));
  RunOptions record;
  record.record_deliveries = record.record_hops = true;
  Report report = run_native(*c.topology, collective, *outcome.schedule, first.model, record);
  if (report.completion != first.completion)
    throw InputError(fmt::format("{}: {} the second time, not {}", name, to_text(report.completion),
                                 to_text(first.completion)));
  return {std::move(collective), std::move(*outcome.schedule), std::move(report)};
}

} // namespace tutti
