// What the deliveries of a repaired collective were good for, and from when on.
#pragma once

#include "sim/repair/recovery.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tutti {

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

/// `deliveries`: per segment and transfer. `lost`: in order, what chunks are complete without.
/// `alive`: per NPU. `starts`: Reaction::starts; nothing is in place at an NPU before.
/// Pre: segments.front() is the whole collective's.
/// Cost: O(transfers + chunks * nodes), times contributors / 64 for chunks that reduce.
[[nodiscard]] Achievement achieved(const Topology& topology, std::span<const Segment> segments,
                                   std::span<const std::vector<Time>> deliveries,
                                   std::span<const ChunkAt> lost, const std::vector<bool>& alive,
                                   std::span<const Time> starts = {});

} // namespace tutti
