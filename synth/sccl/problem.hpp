// What is asked of k-synchronous synthesis, and what it answers (Cai et al. 2021, "Synthesizing
// Optimal Collective Algorithms", sec. 3.2 and 3.3). The network as it sees it (sec. 3.2.1): nodes
// that keep chunks, paths between them that a chunk takes within one step, and the bandwidth
// relation B in chunks per round.
#pragma once

#include "sim/collective.hpp"
#include "sim/ratio.hpp"
#include "synth/solvers/sat.hpp"
#include "synth/timed/ids.hpp"
#include "synth/timed/lane_network.hpp"
#include "synth/timed/timed_chunk.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

/// An entry of B: so many chunks a round over these lanes together. A step of r rounds carries
/// floor(per_round * r).
struct StepLimit {
  std::string name;          ///< "npu0>npu3", or the shared group's
  std::vector<LaneId> lanes; ///< ascending; one that needs the bandwidth twice stands twice
  Ratio per_round;           ///< >= 1
};

/// Nodes are indices of `nodes`; each lane is a link, or links through switches, and takes one
/// step.
struct StepNetwork : LaneNetwork {
  std::vector<NodeId> nodes; ///< those that store and copy; ascending, so NPUs first
  std::vector<StepLimit> limits;
  Bandwidth round;   ///< a round is the time of one chunk at this rate: 1 / beta
  Time step_latency; ///< alpha: the largest latency of a lane
};

/// Chunks a round over each lane by the narrowest limit that it is in.
[[nodiscard]] std::vector<Ratio> lane_widths(const StepNetwork& network);

/// Chunks a round into each node, as far as the limits of its single lanes tell: no more than that
/// arrives.
[[nodiscard]] std::vector<Ratio> intake(const StepNetwork& network);

/// Nodes are indices of StepNetwork::nodes. Chunks are those of the collective before it is cut:
/// cut in C, part k of chunk i is chunk i * C + k.
using StepProblem = TimedProblem<StepNetwork>;

/// The problem with one chunk a shard. Pre: `collective` doesn't reduce (the caller turns
/// Reduce-Scatter into All-Gather on the reversed topology, and so on).
[[nodiscard]] StepProblem step_problem(const Topology& topology, const Collective& collective,
                                       bool reducing);

/// C chunks for each one of the problem, S steps, R rounds in all.
struct StepInstance {
  std::uint32_t chunks_per_shard = 1, steps = 1, rounds = 1;
  bool operator==(const StepInstance&) const = default;
};

struct StepSend {
  ChunkId chunk; ///< i * chunks_per_shard + k
  LaneId lane;
  Step step;
  auto operator<=>(const StepSend&) const = default;
};

/// Q and T of sec. 3.3.
struct StepSchedule {
  std::vector<std::uint32_t> rounds; ///< per step, each at least 1
  std::vector<StepSend> sends;       ///< by step, lane, chunk
};

/// How to look for it.
struct StepSearch {
  std::int64_t effort =
      -1;            ///< conflicts, or 100 for a tree node, after which to give up; negative: never
  std::string proof; ///< file for a DRAT proof that there is none; empty: none
  /// Only schedules with these rounds in each step; empty: any that sum to the instance's.
  std::vector<std::uint32_t> rounds;
};

struct StepAnswer {
  SatAnswer answer = SatAnswer::unknown;
  std::optional<StepSchedule> schedule; ///< there where the answer is sat
};

/// By step, lane, chunk.
void sort_sends(StepSchedule& schedule);

/// The same schedule without what reaches nodes that neither want it nor pass it on.
[[nodiscard]] StepSchedule without_dead_ends(const StepProblem& problem,
                                             const StepInstance& instance, StepSchedule schedule);

} // namespace tutti
