// Fluid to steps (Shapley 2025, Theorem 4): every chunk takes one of the paths of the fluid
// schedule, one chunk after another.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/work_limit.hpp"
#include "synth/flows/fluid/fluid.hpp"

#include <optional>
#include <span>
#include <string>

namespace tutti {

/// Assigns the chunks of each demand to its trees, in proportion to their shares but so that the
/// loads of all resources stay low for any number of chunks, and lists transfers by step: the k-th
/// chunk of every demand starts k steps after the first. In All-Reduce a chunk spreads as soon as
/// it is complete, while others still come together. `trees` as of expanded(). Deterministic.
/// `symmetry`: all elements of a group that keep the trees, or nothing. Where it takes each of 64
/// or more members of an All-to-All to all others, paths and times are those of one member's chunks
/// and of their images: links of an orbit are loaded alike at any time, however nodes are numbered.
/// Errors: LimitReached. Cost: O(transfers log transfers + chunks * trees of a demand * links).
[[nodiscard]] Schedule stepped(const Topology& topology, const Collective& collective,
                               const FlowProblem& problem, std::span<const FlowTree> trees,
                               const WorkLimit& limit = {},
                               std::span<const FlowAutomorphism> symmetry = {});

struct PlannedSteps {
  Schedule schedule;
  std::optional<Time> planned; ///< what the plan takes, latencies included; nothing by step
  bool is_queued = false;      ///< queues decide the order: they were faster than what was planned
  /// The picture behind the planned time: "12 trees", "queues of 12 trees", or "fluid, 12 trees" by
  /// step.
  [[nodiscard]] std::string picture(const std::string& trees) const {
    return (!planned ? "fluid, " : is_queued ? "queues of " : "") + trees;
  }
};

/// The same transfers in the order in which they best start under this model, as list scheduling
/// finds it, with the dependencies that keep this order; by step where the discipline isn't fifo,
/// something ends at a node that can't store, or, for up to a million transfers, that is faster.
/// Only the even pace is tried for more than 50,000 transfers that are `symmetry`'s images.
/// What only comes together is also tried inverted, as data that spreads. Where the limit is
/// reached by then: the best order so far. Cost: some 5 us a transfer more (then: 10 us),
/// eight times that where hundreds of paths begin with a link.
[[nodiscard]] PlannedSteps planned_steps(const Topology& topology, const Collective& collective,
                                         const FlowProblem& problem,
                                         std::span<const FlowTree> trees, const TimeModel& model,
                                         const WorkLimit& limit = {},
                                         std::span<const FlowAutomorphism> symmetry = {});

} // namespace tutti
