// Switches unwound into links between NPUs (TACOS sec. IV.G): as a network of its own, or for a
// synthesizer, whose schedules are carried back to the topology. What lies between the participants
// (switches, memories, NPUs that don't take part) is a fabric; where several participants have
// ports on one fabric, each of the n gets links to the next d of them, in order of their ids and
// around: d = 1 makes a ring, d = n - 1 a complete graph. A link of the fabric that lies on the
// paths of several of these shares its bandwidth among them; so do shared groups.
#pragma once

#include "sim/schedule.hpp"
#include "sim/topology.hpp"
#include "sim/work_limit.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Which ports of a fabric are joined.
struct Unwinding {
  std::uint32_t degree = 1; ///< each to the next so many; 0 leaves out the fabric
  bool both_ways = false;   ///< each to the next one and to the one before, whatever the degree
};

struct Unwound {
  Topology network;                       ///< the NPUs under their ids, and no other nodes
  std::vector<std::vector<LinkId>> paths; ///< per link of the network: what it stands for
  /// Per link of the network how long one chunk keeps it busy beyond its serialization, where links
  /// are busy for their latency: the longest that any link of its path is, for all paths over it.
  std::vector<Time> busy_latency;
};

/// The highest useful degree: participants on the largest fabric, less one; 0 where there is none.
/// Cost: O(links).
[[nodiscard]] std::uint32_t highest_degree(const Topology& topology,
                                           std::span<const NodeId> participants);

/// Links among participants stay, those to and from others go. A degree too high for a fabric
/// counts as its highest. A link of the network has the latencies of its path (with the time that
/// `size` bytes need to get through nodes of it that store). Several paths that cost the same are
/// used in turn.
/// Cost: O(participants * degree * fabric links log nodes), a fabric's links being those into nodes
/// that don't take part. Errors: LimitReached.
[[nodiscard]] Unwound unwound(const Topology& topology, std::span<const NodeId> participants,
                              Unwinding unwinding, Bytes size, const WorkLimit& limit = {});

/// The NPUs and what joins them, each new link with the latency of one link (the longest on its
/// path), as the paper's switches have theirs once; NPUs keep names, coordinates and abilities.
/// Errors: InputError where no two NPUs have ports on one fabric.
[[nodiscard]] Topology unwound_network(const Topology& topology, Unwinding unwinding);

/// A schedule of single hops on the network, on the topology that was unwound.
[[nodiscard]] Schedule through_switches(const Schedule& schedule, const Unwound& unwound,
                                        const Topology& topology);

} // namespace tutti
