// As many spanning trees as the capacities allow, from every root at once (Edmonds 1973; Berczi and
// Frank 2010, "Packing arborescences", for trees by the million; Zhao et al. 2024, ForestColl, sec.
// 5.3).
#pragma once

#include "sim/work_limit.hpp"
#include "synth/flows/packing/supply_flow.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// Equal trees.
struct SpanningTrees {
  std::uint32_t root = 0;
  std::int64_t count = 0;
  std::vector<std::uint32_t> arcs; ///< those nearer to the root first; each reaches a new terminal
};

/// `roots` [node] trees from each terminal to all others, in each arc no more than its capacity. By
/// root. Nothing where the limit was reached. Pre: every arc joins terminals; each terminal can get
/// as much as there are roots at once: then there are such trees. Cost: a maximum flow for each arc
/// that is tried for a tree, at most arcs * (different trees).
[[nodiscard]] std::optional<std::vector<SpanningTrees>>
pack_spanning_trees(const ArcGraph& graph, std::span<const std::int64_t> capacity,
                    std::span<const std::int64_t> roots, std::span<const std::uint32_t> terminals,
                    const WorkLimit& limit);

} // namespace tutti
