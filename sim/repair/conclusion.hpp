// From what was performed to a Recovery: what is in place, what is missing, whether all is well.
#pragma once

#include "sim/repair/recovery.hpp"
#include "sim/repair/running_plan.hpp"
#include "sim/report.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What the deliveries of a repaired collective were good for, and from when on.
struct Achievement {
  std::vector<ProgressPoint> progress; ///< as in Recovery
  std::vector<Time> last_came;         ///< as in Recovery
  Bytes in_vain, wanted;               ///< as in Recovery
  std::vector<ChunkAt> missing;        ///< as in Recovery
  Ending ending = Ending::complete;
  /// Per NPU: when it had all that it wants and that survives, no earlier than it joined; nothing
  /// where it never has.
  std::vector<std::optional<Time>> finished;
  Time last_start; ///< of those alive who hold or want something at first
};

/// Segments that have ended, with when their transfers were delivered and what links carried.
struct History {
  std::vector<Segment> segments;
  std::vector<std::vector<Time>> deliveries;
  std::vector<std::vector<HopRecord>> hops;
  std::vector<LinkUse> links;
  std::vector<ChunkAt> lost; ///< given up: what plans went on without; in order
  std::vector<RouteChange> route_changes;

  /// Pre: the report is of this segment.
  void add(Segment segment, const Report& report);
  void give_up(std::span<const ChunkAt> contributions);
};

/// What has come of a history if only its first `events` count.
struct Account {
  std::vector<ChunkAt> lost;
  Achievement achievement;
};
[[nodiscard]] Account account_of(const RecoveryCase& asked, const History& history,
                                 std::size_t events);

/// Fills what the history decides: all but the policy and the decisions. `last`: of the last
/// segment. Events after everyone alive has all it wants have no effect.
[[nodiscard]] Recovery concluded(const RecoveryCase& asked, History history, const Report& last,
                                 std::string problem);

/// Reaction::beaten_bound, unless the schedule has over 200,000 transfers (bounds take longer than
/// it is worth).
[[nodiscard]] std::string beaten_bound(const RecoveryCase& asked, const Topology& topology,
                                       const Collective& collective, const Schedule& schedule,
                                       Time time);

} // namespace tutti
