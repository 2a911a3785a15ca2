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

/// Replays the schedule in the case's file again, as its first replay was. Meant for small cases.
/// Pre: the case has a schedule_file and no transport, and `e` is its evaluation, with a replay.
/// Errors: InputError where its transfers are too many for a list, or the times differ.
[[nodiscard]] RecordedRun record_run(const Case& c, const Evaluation& e);

} // namespace tutti
