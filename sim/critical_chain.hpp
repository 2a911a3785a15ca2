// What the end of a replay hung on: the last delivery, followed back to what each transfer waited
// for last.
#pragma once

#include "sim/collective.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// A crossing of the chain, or what it waited for at its end.
struct CriticalChain {
  /// Whose late start the chain begins with; nothing where it goes back to time 0.
  std::optional<NodeId> late;
  std::vector<HopRecord> hops; ///< from the first to the last
  /// The link on which the chain's data was longest, latencies included; invalid without hops.
  LinkId longest_on;
  Time longest;
};

/// Of several causes at one instant that counts which is named first: a late start, data, a named
/// transfer, the link or a shared group that was in use. `starts`: per node, or empty.
/// Pre: the report is of a replay of this schedule under fifo, with deliveries and hops, on a
/// network that nothing happened to, of one job. Cost: O(transfers + hops), and for each of the
/// chain log of its link's, of links that share bandwidth with it, and its chunk's transfers.
[[nodiscard]] CriticalChain critical_chain(const Topology& topology, const Collective& collective,
                                           const Schedule& schedule, std::span<const Time> starts,
                                           const Report& report);

} // namespace tutti
