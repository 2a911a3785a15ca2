// The cheapest paths of a flow network at given costs of its links (Dijkstra).
#pragma once

#include "synth/flows/problem.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// From the nearest of some sources; kept from search to search, so that none allocates anew.
struct CheapestPaths {
  std::vector<std::int64_t> cost;       ///< [node]: INT64_MAX where no path leads
  std::vector<std::uint32_t> last_link; ///< [node]; no_index at sources and where no path leads

  /// Pre: costs [link] >= 0, whose sums along paths fit. Of equally cheap paths the first found
  /// counts. Cost: O(links log nodes).
  void search(const FlowNetwork& network, std::span<const std::int64_t> costs,
              std::span<const std::uint32_t> sources);
};

} // namespace tutti
