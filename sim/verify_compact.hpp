// The checker of compact schedules, which says the same of them as verify() of a list that they
// stand for. It shares no code with any algorithm or engine.
#pragma once

#include "sim/collective.hpp"
#include "sim/compact_schedule.hpp"
#include "sim/topology.hpp"
#include "sim/verify.hpp"
#include "sim/watch.hpp"

namespace tutti {

/// Whether the transfers can happen in some order that is each link's: every sender holds what it
/// sends by then (a node that can't copy sends it once), nothing comes to a node twice or to one
/// that held it from the start, and everyone has what it wants in the end. Shares no code with
/// expanded(). Where there are several faults, one is reported, always the same.
/// Faults: as of a list; a chunk that arrives twice is one here, so `redundant` is 0.
/// Cost: O(transfers + links + visits of nodes), a visit for each time that a node which was waited
/// for has got something; plus nodes * chunks / 64. Memory: one bit per (chunk, node), two where
/// some node can't copy, and 8 bytes a link.
/// `watch` counts transfers. Errors: Stopped.
[[nodiscard]] Verdict verify(const Topology& topology, const Collective& collective,
                             const CompactSchedule& schedule, const Watch& watch = {});

} // namespace tutti
