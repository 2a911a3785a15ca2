// Operations of several NPUs that wait for each other in a cycle: a workload that never ends,
// however long anything takes.
#pragma once

#include "sim/workload.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

struct NpuOperation {
  std::uint32_t npu = 0, operation = 0; ///< index into its program
  bool operator==(const NpuOperation&) const = default;
};

/// Each waits for the next one, and the last for the first; empty where there is no cycle. Pre:
/// check_workload(). O(operations of all NPUs and their dependencies).
[[nodiscard]] std::vector<NpuOperation> waiting_cycle(const Workload& workload);

} // namespace tutti
