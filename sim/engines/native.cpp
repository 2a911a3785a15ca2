// The engine for scale: FifoCore on Tutti's own event queue. Memory: 16 bytes a transfer for the
// dependencies, the rest follows what is in flight.

#include "sim/engines/fifo_core.hpp"

namespace tutti {

namespace {

struct NativeClock {
  EventQueue events;
  void schedule(std::int64_t now, const Event& event) { events.push(now, event); }
  void transmit(std::int64_t now, const Event& sent) { events.push(now, sent); }
};

} // namespace

Report run_native(const Topology& topology, const Collective& collective, const Schedule& schedule,
                  const TimeModel& model, const RunOptions& options) {
  if (model.discipline != Discipline::fifo)
    throw InputError("the native engine knows only fifo; fluid needs simgrid");
  NativeClock clock;
  FifoCore<NativeClock> core(topology, collective, schedule, model, options, clock);
  core.begin();
  core.serve(0);
  for (std::int64_t now = clock.events.next_time(); now != EventQueue::never;
       now = clock.events.next_time()) {
    while (clock.events.next_time() == now) core.handle(clock.events.pop());
    core.serve(now);
  }
  Report report = core.finish();
  report.engine = "native";
  return report;
}

} // namespace tutti
