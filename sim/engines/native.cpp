// The engine for scale: a pass over the list where that says it all (in_order.hpp), else FifoCore
// or DynamicCore on Tutti's own event queue. Memory: 16 bytes a transfer for the dependencies, the
// rest follows what is in flight.

#include "sim/engines/dynamic_core.hpp"
#include "sim/engines/fifo_core.hpp"
#include "sim/engines/in_order.hpp"
#include "sim/engines/run_checks.hpp"
#include "sim/engines/run_to_end.hpp"

#include <optional>
#include <utility>

namespace tutti {

namespace {

template <typename Core> Report replay(Core& core, EventQueue& events, const Watch& watch) {
  run_to_end(core, events, watch);
  Report report = core.finish();
  report.engine = "native";
  return report;
}

} // namespace

Report run_native(const Topology& topology, const Collective& collective, const Schedule& schedule,
                  const TimeModel& model, const RunOptions& options) {
  if (model.discipline != Discipline::fifo)
    throw InputError("the native engine knows only fifo; fluid needs simgrid");
  check_run(topology, collective, schedule, options);
  if (std::optional<Report> report =
          replay_in_order(topology, collective, schedule, model, options)) {
    report->engine = "native";
    return std::move(*report);
  }
  EventQueue events;
  if (options.is_plain()) {
    FifoCore core(topology, collective, schedule, model, options, events);
    return replay(core, events, options.watch);
  }
  DynamicCore<ScheduledTransfers> core(topology,
                                       ScheduledTransfers(topology, collective, schedule, options),
                                       model, options, events);
  return replay(core, events, options.watch);
}

} // namespace tutti
