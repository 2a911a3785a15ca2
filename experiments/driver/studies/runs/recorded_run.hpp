// A case's schedule as it was kept, and when each of its hops was, which an Evaluation doesn't
// carry.
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

/// Replays the schedule that the case has written on the native engine, which gives the same times
/// as any other. Meant for small cases. Pre: the case has a schedule_file, and `e` is its
/// evaluation, with a replay.
/// Errors: InputError where the first replay was fluid, or the times differ.
[[nodiscard]] RecordedRun record_run(const Case& c, const Evaluation& e);

} // namespace tutti
