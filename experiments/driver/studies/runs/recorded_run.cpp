// Evaluations come back from worker processes without schedules and hops, which can be gigabytes.
// Cases that a figure draws keep their schedules in files; the times are compared so that a figure
// never shows another run than the table does.
#include "experiments/driver/studies/runs/recorded_run.hpp"

#include "experiments/driver/studies/noise/request.hpp"
#include "sim/error.hpp"
#include "sim/files/schedule_file.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti {

RecordedRun record_run(const Case& c, const Evaluation& e) {
  const Report& first = e.replays.front().report;
  ScheduleFile kept = read_schedule(c.schedule_file, *c.topology);
  make_list(c.schedule_file, *c.topology, kept);
  const std::vector<Time> starts = parse_starts(*c.topology, kept.collective, c.noise.starts);
  RunOptions record;
  record.record_deliveries = record.record_hops = true;
  record.starts = starts;
  Report report = c.engine->run(*c.topology, kept.collective, kept.schedule, first.model, record);
  if (report.completion != first.completion)
    throw InputError(fmt::format("{} on {}: {} in another replay, not {}", e.algorithm, e.topology,
                                 to_text(report.completion), to_text(first.completion)));
  return {std::move(kept.collective), std::move(kept.schedule), std::move(report)};
}

} // namespace tutti
