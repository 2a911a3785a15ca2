// How NPUs are numbered over a topology's coordinates.
#pragma once

#include "sim/topology.hpp"

#include <cstddef>
#include <vector>

namespace tutti {

/// The topology's dimensions, that along which NPU n + 1 follows n first; empty where coordinates
/// are missing, or NPUs aren't numbered row by row (or column by column).
[[nodiscard]] std::vector<std::size_t> dimensions_by_speed(const Topology& topology);

} // namespace tutti
