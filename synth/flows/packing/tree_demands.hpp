// Which problems tree packing can answer, and in its own terms: terminals, each of which roots
// trees to all others, in proportion to its bytes.
#pragma once

#include "synth/flows/problem.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

struct TreeDemands {
  std::string obstacle; ///< why trees are no answer; else empty
  FlowKind kind = FlowKind::spread;
  std::vector<std::uint32_t> terminals; ///< ascending
  std::vector<std::int64_t> bytes;      ///< [node]: of all trees that root there
  std::vector<std::uint32_t> demand_of; ///< [node]: whose root it is; none
  std::vector<std::int64_t> bandwidth;  ///< [link]: bytes/s, shared groups of one link included
};

/// All-Reduce: every terminal roots the same part. Cost: O(set sizes + links).
[[nodiscard]] TreeDemands tree_demands(const FlowProblem& problem);

} // namespace tutti
