// How fast data can spread at best, as an exact fraction: the slowest cut (Zhao et al. 2024,
// ForestColl, sec. 4, there by binary search; here by Newton steps from cut to cut).
#pragma once

#include "sim/ratio.hpp"
#include "synth/flows/packing/supply_flow.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// A set of nodes that data must leave.
struct SlowestCut {
  Ratio time;               ///< weight inside / bandwidth out of it
  std::vector<bool> inside; ///< [node]
};

/// The cut in which some terminal lies outside and the weight inside needs longest; nothing where
/// no arc leads out of it. Pre: weights and the sum of the bandwidths multiply to less than
/// 2^62, something has to move. Cost: a maximum flow for each terminal and each better cut.
[[nodiscard]] std::optional<SlowestCut> slowest_cut(const ArcGraph& graph,
                                                    std::span<const std::int64_t> bandwidth,
                                                    std::span<const std::int64_t> weight,
                                                    std::span<const std::uint32_t> terminals);

} // namespace tutti
