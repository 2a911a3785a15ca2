// Workloads at random that check_workload() accepts: computing, collectives of every kind in random
// groups, and sends, each depending on some of what its NPU did before.
#pragma once

#include "sim/random.hpp"
#include "sim/workload.hpp"

#include <cstdint>

namespace tutti::samples {

/// Every group is used, every NPU has its own program, and no NPU has a group in two roles.
[[nodiscard]] Workload random_workload(Random& random, std::uint32_t npus, std::uint32_t events);

} // namespace tutti::samples
