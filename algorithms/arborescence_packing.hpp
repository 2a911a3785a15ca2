// Spanning trees from one root that share a network's capacity.
#pragma once

#include "sim/work_limit.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Directed; parallel ones are allowed.
struct PackingEdge {
  std::uint32_t from = 0, to = 0;
  std::int64_t capacity = 0; ///< >= 1
};

/// A spanning tree that leads away from the root, and what it carries.
struct Arborescence {
  static constexpr std::uint32_t no_edge = UINT32_MAX;
  std::int64_t weight = 0;
  std::vector<std::uint32_t> edge_into; ///< by vertex; no_edge for the root
};

struct ArborescencePacking {
  /// The least of all maximum flows from the root to another vertex. No packing has more weight,
  /// and one has as much (Edmonds 1973, "Edge-disjoint branchings").
  std::int64_t rate = 0;
  std::vector<Arborescence> trees;
};

/// Trees whose weights together keep every edge within its capacity and reach at least 99 % of the
/// rate: the last hundredth isn't worth more trees. (All of it where the rate is below 100, counted
/// in the capacities' greatest common divisor.)
/// Few trees, as each gets as much weight as its edges and the other trees allow, and shallow ones.
/// Deterministic. Pre: every vertex below `vertices` is reached from the root; vertices >= 2; the
/// capacities together are below 2^61.
/// Errors: LimitReached.
/// Cost: up to log2(rate) + trees rounds, each of a maximum flow for every edge.
[[nodiscard]] ArborescencePacking pack_arborescences(std::uint32_t vertices,
                                                     std::span<const PackingEdge> edges,
                                                     std::uint32_t root,
                                                     const WorkLimit& limit = {});

} // namespace tutti
