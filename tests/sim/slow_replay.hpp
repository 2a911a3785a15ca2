// The rules of a replay in their plainest form, to hold the engines against: no event queue, no
// tokens, no counters. At every instant everything is looked at again. Shares nothing with
// sim/engines but the types of its options and results.
#pragma once

#include "sim/engines/engine.hpp"

#include <optional>
#include <vector>

namespace tutti::testing {

struct SlowReport {
  std::vector<std::optional<Time>> deliveries; ///< per transfer
  std::vector<StuckTransfer> stuck;            ///< by transfer
  std::vector<LinkUse> links;
  Time quiet;
  Time completion; ///< the last delivery, or the last start of a source or destination
};

/// As an engine with RunOptions::may_halt. For some dozen transfers: O(instants * transfers^2).
[[nodiscard]] SlowReport slow_replay(const Topology& topology, const Collective& collective,
                                     const Schedule& schedule, const TimeModel& model,
                                     const RunOptions& options);

} // namespace tutti::testing
