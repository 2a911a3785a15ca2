// What is asked of k-synchronous synthesis, and what it answers (Cai et al. 2021, sec. 3.2 and
// 3.3).
#pragma once

#include "sim/collective.hpp"
#include "synth/sccl/network.hpp"
#include "synth/solvers/sat.hpp"
#include "synth/timed/ids.hpp"
#include "synth/timed/timed_chunk.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

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
