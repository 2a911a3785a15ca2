// What the end of a replay depended on: the last delivery, followed back to what each transfer
// waited for last.
#pragma once

#include "sim/collective.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// The crossings of the chain, and what it begins with.
struct CriticalChain {
  /// Whose late start the chain begins with; nothing where it goes back to time 0.
  std::optional<NodeId> late;
  std::vector<HopRecord> hops; ///< from the first to the last
  /// The link on which the chain's data was longest, latencies included; invalid without hops.
  LinkId longest_on;
  Time longest;
};

/// The chain that ends with the last delivery. Where there are several causes at one instant, the
/// one named first here counts: a late start, data, a named transfer, the link or a shared group
/// that was in use. `starts`: per node, or empty.
/// Pre: the report is of a replay of this schedule under fifo, with deliveries and hops, on a
/// network that nothing happened to, of one job. Cost: O(transfers + hops), and for each hop of the
/// chain the logarithm of the crossings of its link and of each link that shares bandwidth with it,
/// and the transfers of its chunk.
[[nodiscard]] CriticalChain critical_chain(const Topology& topology, const Collective& collective,
                                           const Schedule& schedule, std::span<const Time> starts,
                                           const Report& report);

} // namespace tutti
