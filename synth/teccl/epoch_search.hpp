// How many epochs are enough (TE-CCL sec. 4.3, Algorithm 1; sec. 5.2).
#pragma once

#include "sim/collective.hpp"
#include "sim/work_limit.hpp"
#include "synth/teccl/epoch_answer.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace tutti {

/// Asks a solver for a plan in exactly this many epochs.
using EpochQuestion = std::function<EpochAnswer(std::uint32_t epochs)>;

struct EpochSearch {
  /// Of the smallest K for which there is a plan; status optimal: that it is the smallest is proven
  /// (feasible: fewer were not decided).
  EpochAnswer answer;
  std::uint32_t epochs = 0;   ///< K of the answer's plan; 0 without
  std::uint32_t at_least = 0; ///< proven
  std::uint32_t questions = 0;
};

/// Bisection between what distances and limits prove and `start` (a plan, if there is one), else
/// what Algorithm 1 finds: coarse epochs first, doubled until there is a plan. Each plan that is
/// found lowers the upper end to what it really takes.
[[nodiscard]] EpochSearch fewest_epochs_search(const EpochProblem& problem,
                                               const std::optional<EpochPlan>& start,
                                               const EpochQuestion& question,
                                               const WorkLimit& limit);

/// Algorithm 1: an upper bound on the collective's time by questions in few, long epochs. Settings'
/// duration is what it changes. Nothing where the limit was reached first.
[[nodiscard]] std::optional<Time>
epoch_time_bound(const Topology& topology, const Collective& collective, EpochSettings settings,
                 const std::function<EpochAnswer(const EpochProblem&, std::uint32_t)>& question,
                 const WorkLimit& limit);

} // namespace tutti
