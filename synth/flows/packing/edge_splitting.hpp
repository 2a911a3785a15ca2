// Switches split off, at no loss (Zhao et al. 2024, ForestColl, sec. 5.2): a pair of arcs into
// and out of a switch becomes one that passes it by, with as much of their capacity as can be
// without any terminal being worse off, until nothing of the switch is needed (that this comes to
// an end: Bang-Jensen, Frank and Jackson 1995, "Preserving and increasing local edge-connectivity
// in mixed graphs").
#pragma once

#include "sim/work_limit.hpp"
#include "synth/flows/packing/supply_flow.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// A part of an arc's capacity and the links it stands for, one behind the other.
struct CapacityRoute {
  std::int64_t amount = 0;
  std::vector<std::uint32_t> links;
};

/// At most one arc from a node to another, none of capacity 0.
struct RoutedNetwork {
  ArcGraph graph;
  std::vector<std::int64_t> capacity;             ///< [arc]
  std::vector<std::vector<CapacityRoute>> routes; ///< [arc]: amounts add up to its capacity

  explicit RoutedNetwork(std::uint32_t nodes) : graph(nodes) {}
  /// Joins the capacity of an arc that is there already.
  void add(std::uint32_t from, std::uint32_t to, CapacityRoute route);
};

/// The network without arcs at nodes that aren't terminals, in which each terminal gets the
/// supplies of all others as before. Nothing where the limit was reached. Pre: each terminal can
/// get all supplies at once, and into and out of every other node goes the same capacity; only
/// terminals have supplies. Cost: O(arcs in * arcs out) pairs for each switch, each with a look at
/// every terminal, and a maximum flow for those that it concerns; memory 8 bytes for each terminal
/// and arc. What data doesn't need is not all kept: fewer arcs make trees sooner.
[[nodiscard]] std::optional<RoutedNetwork>
without_switches(RoutedNetwork network, std::span<const std::int64_t> supply,
                 std::span<const std::uint32_t> terminals, const WorkLimit& limit);

} // namespace tutti
