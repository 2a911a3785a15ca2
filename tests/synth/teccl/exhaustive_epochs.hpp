// Plans in epochs by trying everything: what to compare solvers with on tiny problems.
#pragma once

#include "synth/teccl/problem.hpp"
#include "synth/timed/ids.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace tutti::testing {

/// Whether there is a plan in so many epochs; nothing where that would take more than
/// `most_choices` choices. Every send that the rules of epoch_fault() allow is tried, epoch by
/// epoch.
[[nodiscard]] std::optional<bool> plan_exists(const EpochProblem& problem, std::uint32_t epochs,
                                              std::uint64_t most_choices);

/// Which plans are compared: those that begin with `past` and decide what is sent from epoch
/// `begin` on.
struct EpochContest {
  std::uint32_t begin = 0, epochs = 0;
  EpochPlan past = {};
  bool must_finish = true;
  /// Of a destination for a chunk that is there at the beginning of an epoch, summed over begin ..
  /// epochs.
  std::function<double(ChunkId chunk, NodeId node, Epoch epoch)> reward;
};

struct EpochContestResult {
  bool decided = false;       ///< not after `most_choices` choices
  std::optional<double> best; ///< the highest reward; nothing where there is no such plan
};

[[nodiscard]] EpochContestResult
best_reward(const EpochProblem& problem, const EpochContest& contest, std::uint64_t most_choices);

} // namespace tutti::testing
