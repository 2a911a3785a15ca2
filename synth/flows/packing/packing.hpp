// All-Gather and its kin at exactly optimal throughput by packing spanning trees (Zhao et al. 2024,
// "ForestColl: Efficient Collective Communications on Heterogeneous Network Fabrics", after
// Edmonds 1973, Frank, and Berczi and Frank 2010): a second method beside linear programs.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/flows/fluid/fluid.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace tutti {

/// `obstacle` says in words why there is no answer (a node's links in and out differ, ...); else
/// empty, and the solution is optimal for a network without shared groups in which nodes that
/// aren't sinks don't copy.
struct TreePacking {
  FluidSolution solution;
  std::string obstacle;
  std::int64_t trees_per_source = 0; ///< k of the paper; of the source with the fewest
};

/// Broadcast, All-Gather, Reduce, Reduce-Scatter: optimal. All-Reduce: the optima of Reduce-Scatter
/// and All-Gather at once, no slower than one after the other; feasible. Of these, trees of little
/// traffic, where `weights` [link] says what a byte over it counts; empty: 1, and nothing is saved.
/// Cost: see without_spare_capacity(), without_switches() and pack_spanning_trees().
[[nodiscard]] TreePacking pack_trees(const FlowProblem& problem, const WorkLimit& limit,
                                     std::span<const double> weights = {});

} // namespace tutti
