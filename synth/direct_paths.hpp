// Schedules for members that lack abilities which planners let every member have, and for networks
// on which a planner finds no way of its own.
#pragma once

#include "sim/collective.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"

namespace tutti {

/// Whether someone who holds or wants a chunk can't store or copy, or has to do with a sum and
/// can't reduce.
[[nodiscard]] bool needs_direct_paths(const Topology& topology, const Collective& collective);

/// Every chunk goes straight from where it is to each who wants it, by shortest paths across
/// whatever lies between; a sum comes about at one node that can reduce, and goes on from there.
/// Sources that can't copy give their chunk to one destination, or to a node that can.
/// `unsupported` where a chunk would need more than that. Cost: O(links log nodes) for each node
/// that something is sent to, then that of list scheduling.
[[nodiscard]] Outcome direct_paths(const Topology& topology, const Collective& collective,
                                   const SynthesisOptions& options);

/// What a planner found; where that is no schedule, though no limit ended it, the one by direct
/// paths. Not for what settings restrict.
[[nodiscard]] Outcome or_direct_paths(Outcome found, const Topology& topology,
                                      const Collective& collective,
                                      const SynthesisOptions& options);

} // namespace tutti
