// How many epochs are enough (TE-CCL sec. 5, "number of epochs").
#pragma once

#include "sim/work_limit.hpp"
#include "synth/teccl/answer.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace tutti {

/// Asks a solver for a plan in exactly this many epochs.
using EpochQuestion = std::function<EpochAnswer(std::uint32_t epochs)>;

struct EpochSearch {
  /// The answer for the smallest K that has a plan; status optimal: that it is the smallest is
  /// proven (feasible: fewer were not decided). Infeasible where someone is out of reach, or where
  /// there is none even in so many epochs that all could go one after another; timed_out where no
  /// plan was found. `seconds` are those of all questions.
  EpochAnswer answer;
  std::uint32_t epochs = 0;   ///< K of the answer's plan; 0 without
  std::uint32_t at_least = 0; ///< proven
  std::uint32_t questions = 0;
};

/// Bisection between what distances and limits prove and `start` (a plan, if there is one), else
/// the first K that has a plan, in steps that double; gives up after several that the solver can't
/// decide. Each plan that is found lowers the upper end to what it really takes. What a question
/// leaves open counts as no in the bisection, but proves nothing.
[[nodiscard]] EpochSearch fewest_epochs_search(const EpochProblem& problem,
                                               const std::optional<EpochPlan>& start,
                                               const EpochQuestion& question,
                                               const WorkLimit& limit);

} // namespace tutti
