// How many bytes one run of a plan moves.
#pragma once

#include "runtime/plans/plan.hpp"

#include <cstdint>

namespace tutti::runtime {

struct PlanTraffic {
  std::uint64_t sent = 0; ///< over connections
  /// What the ranks' memory has to do at least where a cache serves all readers of a byte but the
  /// first, and gathers what is written to one place: each byte that any step reads, once, and each
  /// that any writes, once.
  std::uint64_t memory = 0;
};

/// Cost: O(steps * log(steps)).
[[nodiscard]] PlanTraffic traffic_of(const Plan& plan);

} // namespace tutti::runtime
