// Replays of lists whose times follow from the order of the list alone.
#pragma once

#include "sim/collective.hpp"
#include "sim/compact_schedule.hpp"
#include "sim/engines/engine.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"

#include <optional>

namespace tutti {

/// Whether order across links decides nothing: no link shares bandwidth, and every node stores what
/// it sends on.
[[nodiscard]] bool links_are_independent(const Topology& topology);

/// Whether some node takes time to reduce.
[[nodiscard]] bool reductions_take_time(const Topology& topology, const TimeModel& model);

/// Whether there are enough transfers for some bytes a (chunk, node).
[[nodiscard]] bool is_dense(const Topology& topology, std::size_t chunks, std::size_t transfers);

/// The same of copies, by link and node (native_compact.cpp), with what run_native() says of them.
/// Pre: single hops over independent links. Nothing where a chunk comes to a node twice.
[[nodiscard]] std::optional<Report> replay_copies(const Topology& topology,
                                                  const Collective& collective,
                                                  const Schedule& schedule, const TimeModel& model,
                                                  const RunOptions& options);

/// The same where each chunk comes to few of the nodes (native_sparse.cpp). `listed`: the same as a
/// list, whose deliveries are wanted; or null. Pre: copies only.
[[nodiscard]] std::optional<Report> replay_sparse(const Topology& topology,
                                                  const Collective& collective,
                                                  const CompactSchedule& schedule,
                                                  const TimeModel& model, const Watch& watch,
                                                  const Schedule* listed);

/// What run_native() says of a plain run under FIFO, transfer by transfer: a link that nobody else
/// sends over carries them in the list's order. Nothing where that isn't so: several hops, links
/// that share bandwidth, shared sends, named dependencies, late starts, reductions that take time,
/// hops recorded, or reductions among so few transfers that 16 bytes a (chunk, node) are too much.
/// Pre: the options are checked. Errors: as run_native(). Cost: O(transfers + chunks x nodes), or
/// O(transfers) where these are few; 15 to 80 ns a transfer.
[[nodiscard]] std::optional<Report>
replay_in_order(const Topology& topology, const Collective& collective, const Schedule& schedule,
                const TimeModel& model, const RunOptions& options);

} // namespace tutti
