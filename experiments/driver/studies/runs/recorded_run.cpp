// Evaluations come back from worker processes without schedules and hops, which can be gigabytes.
// Cases that a figure draws keep their schedules in files; the times are compared so that a figure
// never shows another run than the table does.
#include "experiments/driver/studies/runs/recorded_run.hpp"

#include "sim/compact_schedule.hpp"
#include "sim/error.hpp"
#include "sim/files/schedule_file.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti {

RecordedRun record_run(const Case& c, const Evaluation& e) {
  const Report& first = e.replays.front().report;
  const std::string name = fmt::format("{} on {}", e.algorithm, e.topology);
  if (first.model.discipline != Discipline::fifo)
    throw InputError(fmt::format("{}: only fifo is recorded, not fluid", name));
  ScheduleFile kept = read_schedule(c.schedule_file, *c.topology);
  if (kept.compact) kept.schedule = expanded(*c.topology, kept.collective, *kept.compact);
  RunOptions record;
  record.record_deliveries = record.record_hops = true;
  Report report = run_native(*c.topology, kept.collective, kept.schedule, first.model, record);
  if (report.completion != first.completion)
    throw InputError(fmt::format("{}: {} by the native engine, not {}", name,
                                 to_text(report.completion), to_text(first.completion)));
  return {std::move(kept.collective), std::move(kept.schedule), std::move(report)};
}

} // namespace tutti
