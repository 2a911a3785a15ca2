// The answer to one instance of k-synchronous synthesis.
#pragma once

#include "synth/sccl/problem.hpp"
#include "synth/solvers/sat.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

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
