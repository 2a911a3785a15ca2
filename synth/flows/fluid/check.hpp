// Is this fluid schedule a correct one, and how long does it take? Shares no code with what makes
// them.
#pragma once

#include "synth/flows/fluid/fluid.hpp"

#include <span>
#include <string>

namespace tutti {

struct FluidVerdict {
  std::string fault;  ///< the first, in words; empty: correct
  double seconds = 0; ///< the most that a resource needs
  double traffic = 0; ///< bytes over links, weighted
};

/// Follows every tree hop by hop: links in a row, no copying or reducing where that is impossible,
/// nothing sent that isn't there, nothing combined twice, everyone served; shares of each demand
/// add up to 1 within 1e-9. `weights` [link] may be empty: 1 for each.
/// Cost: O(links of all trees + demands * nodes). Errors: LimitReached.
[[nodiscard]] FluidVerdict check_fluid(const FlowProblem& problem, std::span<const FlowTree> trees,
                                       std::span<const double> weights = {},
                                       const WorkLimit& limit = {});

} // namespace tutti
