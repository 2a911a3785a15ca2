// The native engine's clock: Tutti's own event queue.
#pragma once

#include "sim/engines/event_queue.hpp"
#include "sim/watch.hpp"

#include <algorithm>
#include <cstdint>

namespace tutti {

struct NativeClock {
  EventQueue events;
  void schedule(std::int64_t now, const Event& event) { events.push(now, event); }
  void transmit(std::int64_t now, const Event& sent) { events.push(now, sent); }
  /// What was due before stays in the queue; the core doesn't heed it.
  void retransmit(std::int64_t now, const Event& sent) {
    if (sent.at != EventQueue::never) events.push(now, sent);
  }
};

/// Lets everything happen that `core` schedules in `events`, its clock's. Errors: Stopped.
template <typename Core> void run_to_end(Core& core, EventQueue& events, const Watch& watch) {
  WatchedSteps steps(watch);
  core.serve(core.begin());
  while (true) {
    const std::int64_t change = core.next_change();
    const std::int64_t now = std::min(events.next_time(), change);
    if (now == EventQueue::never) return;
    if (now == change) core.change(now);
    std::uint64_t handled = 1; // an instant without events takes its time, too
    for (; events.next_time() == now; ++handled) core.handle(events.pop());
    core.serve(now);
    steps.take(handled, [&core] { return core.progress(); });
  }
}

} // namespace tutti
