// Did a repaired collective do what it should? Shares no code with those who repaired it.
#pragma once

#include "sim/network_event.hpp"
#include "sim/repair/residual.hpp"
#include "sim/repair/segment.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

struct HistoryVerdict {
  /// In words, with segment and transfer: a value that counts and isn't there, values that overlap
  /// where they should be disjoint, a contribution counted twice or lost though someone alive had
  /// it, a delivery to or from an NPU that was dead by then.
  std::optional<std::string> fault;
  std::vector<ChunkAt> missing; ///< what NPUs alive want and don't have in the end, in order
  [[nodiscard]] bool correct() const { return !fault; }
};

/// Performs the delivered transfers of all segments in order on sets of contributions, chunk by
/// chunk. A value is complete if it holds every contribution but those in `lost`, each once. Where
/// values go back to inputs (Segment::from_inputs), what the dead gave to sums may be lost though
/// someone alive had such a sum.
/// Cost: O(transfers + chunks * nodes), times contributors for transfers that reduce.
/// `died`: per NPU, when it died, if it did.
[[nodiscard]] HistoryVerdict check_history(const Topology& topology, const Collective& collective,
                                           std::span<const Segment> segments,
                                           std::span<const ChunkAt> lost,
                                           const std::vector<std::optional<Time>>& died);

} // namespace tutti
