// A case once more, with all that an Evaluation doesn't carry: its schedule and when each hop was.
#pragma once

#include "experiments/driver/studies/runs/evaluation.hpp"
#include "sim/collective.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"

namespace tutti {

struct RecordedRun {
  Collective collective;
  Schedule schedule;
  Report report; ///< with deliveries and hops
};

/// Synthesizes again, which gives the same schedule, and replays it on the native engine, which
/// gives the same times. Meant for small cases. Pre: `e` is the case's evaluation, with a replay.
/// Errors: InputError where the first replay was fluid, or where the run came out differently (a
/// time limit may cut it elsewhere).
[[nodiscard]] RecordedRun record_run(const Case& c, const Evaluation& e);

} // namespace tutti
