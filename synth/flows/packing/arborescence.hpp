// Cheapest trees out of one vertex of a directed graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

struct CostedArc {
  std::uint32_t from, to;
  std::int64_t cost; ///< any sign; sums must fit
};

/// Spanning tree of least cost with all arcs leading away from the root (Edmonds 1967; as in Gabow,
/// Galil, Spencer, Tarjan 1986, with pairing heaps): for each vertex the index of the arc into it,
/// for the root UINT32_MAX; empty where some vertex can't be reached. Deterministic.
/// Cost: O(arcs log vertices).
[[nodiscard]] std::vector<std::uint32_t>
minimum_arborescence(std::uint32_t vertices, std::uint32_t root, std::span<const CostedArc> arcs);

} // namespace tutti
