// Fluid to steps (Shapley 2025, Theorem 4): every chunk takes one of the ways of the fluid
// schedule, one chunk after another.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"
#include "synth/flows/fluid.hpp"

#include <span>

namespace tutti {

/// Assigns the chunks of each demand to its trees, in proportion to their shares but so that the
/// loads of all resources stay low for any number of chunks, and lists transfers by step: the k-th
/// chunk of every demand starts k steps after the first. In All-Reduce a chunk spreads as soon as
/// it is complete, while others still come together. `trees` as of expanded(). Deterministic.
/// Cost: O(transfers log transfers + chunks * trees of a demand * their links).
[[nodiscard]] Schedule stepped(const Topology& topology, const Collective& collective,
                               const FlowProblem& problem, std::span<const FlowTree> trees);

} // namespace tutti
