// The engine for scale: FifoCore or DynamicCore on Tutti's own event queue. Memory: 16 bytes a
// transfer for the dependencies, the rest follows what is in flight.

#include "sim/engines/dynamic_core.hpp"
#include "sim/engines/fifo_core.hpp"

#include <algorithm>

namespace tutti {

namespace {

struct NativeClock {
  EventQueue events;
  void schedule(std::int64_t now, const Event& event) { events.push(now, event); }
  void transmit(std::int64_t now, const Event& sent) { events.push(now, sent); }
  /// What was due before stays in the queue; the core doesn't heed it.
  void retransmit(std::int64_t now, const Event& sent) {
    if (sent.at != EventQueue::never) events.push(now, sent);
  }
};

template <typename Core> Report replay(Core& core, EventQueue& events) {
  core.serve(core.begin());
  while (true) {
    const std::int64_t change = core.next_change();
    const std::int64_t now = std::min(events.next_time(), change);
    if (now == EventQueue::never) break;
    if (now == change) core.change(now);
    while (events.next_time() == now) core.handle(events.pop());
    core.serve(now);
  }
  Report report = core.finish();
  report.engine = "native";
  return report;
}

} // namespace

Report run_native(const Topology& topology, const Collective& collective, const Schedule& schedule,
                  const TimeModel& model, const RunOptions& options) {
  if (model.discipline != Discipline::fifo)
    throw InputError("the native engine knows only fifo; fluid needs simgrid");
  NativeClock clock;
  if (options.is_plain()) {
    FifoCore<NativeClock> core(topology, collective, schedule, model, options, clock);
    return replay(core, clock.events);
  }
  DynamicCore<NativeClock> core(topology, collective, schedule, model, options, clock);
  return replay(core, clock.events);
}

} // namespace tutti
