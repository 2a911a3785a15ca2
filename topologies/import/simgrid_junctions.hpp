// Where the links of a SimGrid platform meet.
#pragma once

#include "sim/engines/simgrid/platform.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::topologies {

/// For links that some route takes; each has two ends, 0 and 1.
struct SimGridJunctions {
  /// [link][end]: number of the junction there; a host's where below the number of hosts.
  std::vector<std::array<std::uint32_t, 2>> at;
  std::vector<std::array<bool, 2>> is_taken; ///< [link][end]: from this end to the other
};

/// None where the routes fit no graph of links.
[[nodiscard]] std::optional<SimGridJunctions> simgrid_junctions(const SimGridPlatform& platform);

} // namespace tutti::topologies
