// Divides blocks among pipeline stages.
#pragma once

#include "sim/units.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Cuts a row of blocks into `stages` runs of at least one block so that the longest run is as
/// short as possible, and of all such cuts takes one whose runs differ least (by the sum of their
/// squares). Returns where each run begins, and the number of blocks last.
/// O(stages * blocks^2). Pre: 1 <= stages <= costs.size(), costs >= 0.
[[nodiscard]] std::vector<std::uint32_t> balanced_stages(std::span<const Time> costs,
                                                         std::uint32_t stages);

} // namespace tutti
