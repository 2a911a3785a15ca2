// A lower bound on the cost of a tree that need not reach everyone.
#pragma once

#include "synth/flows/packing/arborescence.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// No tree out of the root to all terminals is cheaper (dual ascent: Wong 1984, "A dual ascent
/// approach for Steiner tree problems on a directed graph"): sets of vertices without the root that
/// a terminal is in must be entered, and each arc pays for sets that it enters no more than its
/// cost. 0 where some terminal can't be reached. Costs >= 0. Deterministic.
/// Cost: O(terminals * vertices * arcs) at worst; usually some searches for each terminal.
[[nodiscard]] std::int64_t steiner_bound(std::uint32_t vertices, std::uint32_t root,
                                         std::span<const std::uint32_t> terminals,
                                         std::span<const CostedArc> arcs);

} // namespace tutti
