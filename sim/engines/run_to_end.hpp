// The native engine's loop: instant by instant, all that happens at one before what it lets start.
#pragma once

#include "sim/engines/event_queue.hpp"
#include "sim/watch.hpp"

#include <algorithm>
#include <cstdint>

namespace tutti {

/// Lets everything happen that `core` schedules in `events`. Errors: Stopped.
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
