// Trees from every terminal at the exact optimum, on physical links: throughput, spare capacity,
// splitting and packing one after another.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/flows/problem.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Equal trees with equal paths.
struct RoutedTrees {
  std::uint32_t root = 0;
  std::int64_t count = 0;
  /// From a terminal that has been reached to a new one, over links in a row.
  std::vector<std::vector<std::uint32_t>> hops;
};

struct Forest {
  std::string obstacle;               ///< why there is none; else empty
  bool timed_out = false;             ///< then there are no trees
  double seconds = 0;                 ///< the optimum
  std::vector<std::int64_t> roots;    ///< [node]: how many trees each has, as few as are exact
  std::vector<std::int64_t> capacity; ///< [link]: how many trees may cross it
  bool saves = false;                 ///< whether trees were left less capacity, to save traffic
  std::vector<RoutedTrees> trees;     ///< by root
};

/// What spreads from all terminals, `bytes` [node], over links of `bandwidth`, with little traffic
/// where `weights` [link] says what a byte over it costs; empty: whatever. For data that combines:
/// on the reversed network, inverted. Pre: links into and out of every other node carry the same.
[[nodiscard]] Forest spread_forest(const FlowNetwork& network,
                                   std::span<const std::int64_t> bandwidth,
                                   std::span<const std::int64_t> bytes,
                                   std::span<const std::uint32_t> terminals,
                                   std::span<const double> weights, const WorkLimit& limit);

/// Its `obstacle` and `seconds` alone.
[[nodiscard]] Forest forest_limit(const FlowNetwork& network,
                                  std::span<const std::int64_t> bandwidth,
                                  std::span<const std::int64_t> bytes,
                                  std::span<const std::uint32_t> terminals);

} // namespace tutti
