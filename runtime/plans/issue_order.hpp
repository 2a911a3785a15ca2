// A program's steps in an order that can be issued one by one: each after what it waits for.
#pragma once

#include "runtime/plans/plan.hpp"

#include <cstdint>
#include <vector>

namespace tutti::runtime {

/// A step, and the steps of other blocks that must be over before it starts; all indices into
/// Plan::steps, nobody where there is none.
struct IssuedStep {
  std::uint32_t block = 0; ///< into Plan::blocks
  std::uint32_t step = 0;
  std::uint32_t after = nobody;   ///< its dependency
  std::uint32_t sent = nobody;    ///< that sends what it receives
  std::uint32_t emptied = nobody; ///< that empties the slot which it sends to
};

/// Blocks take turns, each as far as it gets. Errors: HungRun naming the steps that wait where not
/// all can be ordered. Cost: O(steps * rounds), rounds at most the longest chain of waits.
[[nodiscard]] std::vector<IssuedStep> issue_order(const Plan& plan);

} // namespace tutti::runtime
