// Which sends of a plan are of use.
#pragma once

#include "synth/teccl/problem.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

/// Without the sends that nobody needs (see without_useless()), each with the one that brought what
/// it passes on, where its sender doesn't store.
struct EpochForest {
  static constexpr std::uint32_t root = UINT32_MAX;
  EpochPlan sends;
  std::vector<std::uint32_t> parent; ///< [send]: index into sends; root: its sender stores
};

/// Pre: epoch_fault() is empty.
[[nodiscard]] EpochForest needed_sends(const EpochProblem& problem, const EpochPlan& plan);

/// Without the sends that nobody needs in the end (walking back from the destinations). Pre:
/// epoch_fault() is empty.
[[nodiscard]] EpochPlan without_useless(const EpochProblem& problem, const EpochPlan& plan);

} // namespace tutti
