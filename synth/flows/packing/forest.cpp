// Three steps, each exact: the slowest cut as a fraction p/q (exact_throughput.hpp), capacities of
// p per unit of bandwidth and q trees per unit of bytes, switches split off (edge_splitting.hpp),
// spanning trees packed (spanning_trees.hpp). Before switches are split off, links that count as
// traffic lose what isn't needed for that time (spare_capacity.hpp). Last, trees get back the
// physical links that their arcs stand for; where trees of one batch have several paths they are
// divided.

#include "synth/flows/packing/forest.hpp"

#include "synth/flows/packing/edge_splitting.hpp"
#include "synth/flows/packing/exact_throughput.hpp"
#include "synth/flows/packing/spanning_trees.hpp"
#include "synth/flows/packing/spare_capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

namespace tutti {

namespace {

__extension__ typedef __int128 int128;

using Numbers = std::vector<std::int64_t>;

/// In lowest terms.
struct Unit {
  std::int64_t size = 0;
  Numbers counts;
};

Unit in_units(std::span<const std::int64_t> amounts) {
  Unit unit;
  for (const std::int64_t amount : amounts) unit.size = std::gcd(unit.size, amount);
  for (const std::int64_t amount : amounts) unit.counts.push_back(amount / unit.size);
  return unit;
}

/// Are all numbers that come up below 2^62?
bool fit(const Unit& bytes, const Unit& bandwidth) {
  int128 weight = 0, capacity = 0;
  for (const std::int64_t count : bytes.counts) weight += count;
  for (const std::int64_t count : bandwidth.counts) capacity += count;
  constexpr int128 most = int128{1} << 62;
  return weight < most && capacity < most && weight * capacity < most;
}

/// The forest that is to be made, in integers.
struct Plan {
  Forest forest;
  Unit bytes, bandwidth;
  Ratio time; ///< units of bytes per units of bandwidth
};

Plan plan(const FlowNetwork& network, std::span<const std::int64_t> bandwidth,
          std::span<const std::int64_t> bytes, std::span<const std::uint32_t> terminals) {
  Plan plan;
  if (bandwidth.empty()) {
    plan.forest.obstacle = "there are no links";
    return plan;
  }
  plan.bytes = in_units(bytes);
  plan.bandwidth = in_units(bandwidth);
  if (!fit(plan.bytes, plan.bandwidth)) {
    plan.forest.obstacle = "bytes and bandwidths have no common units of a useful size";
    return plan;
  }
  ArcGraph graph(network.node_count());
  for (const auto& [from, to] : network.links) graph.add_arc(from, to);
  const std::optional<SlowestCut> cut =
      slowest_cut(graph, plan.bandwidth.counts, plan.bytes.counts, terminals);
  if (!cut) {
    plan.forest.obstacle = "some NPU has no path to another";
    return plan;
  }
  plan.time = cut->time;
  plan.forest.seconds = cut->time.value() * static_cast<double>(plan.bytes.size) /
                        static_cast<double>(plan.bandwidth.size);
  return plan;
}

/// Links of terminals and switches, each with capacity for so many trees.
RoutedNetwork links_with(const FlowNetwork& network, const Numbers& capacity) {
  RoutedNetwork routed(network.node_count());
  for (std::uint32_t link = 0; link < network.link_count(); ++link) {
    const auto [from, to] = network.links[link];
    if (from != to) routed.add(from, to, {capacity[link], {link}});
  }
  return routed;
}

/// The path without its detours back to nodes that it has passed.
std::vector<std::uint32_t> without_loops(const FlowNetwork& network,
                                         const std::vector<std::uint32_t>& links) {
  std::vector<std::uint32_t> path;
  for (const std::uint32_t link : links) {
    const auto again = std::ranges::find_if(path, [&](std::uint32_t earlier) {
      return network.links[earlier].from == network.links[link].to;
    });
    if (again == path.end())
      path.push_back(link);
    else
      path.erase(again, path.end());
  }
  return path;
}

/// Gives the arcs of trees the paths that the capacity they use stands for.
class TreeRoutes {
public:
  TreeRoutes(const FlowNetwork& network, RoutedNetwork& routed)
      : network_(network), routed_(routed) {}

  /// Some of the trees at once, which all take the same paths.
  void add(const SpanningTrees& trees, std::vector<RoutedTrees>& result) {
    for (std::int64_t left = trees.count; left > 0;) {
      RoutedTrees some{trees.root, left, {}};
      for (const std::uint32_t arc : trees.arcs)
        some.count = std::min(some.count, routed_.routes[arc].back().amount);
      for (const std::uint32_t arc : trees.arcs) some.hops.push_back(take(arc, some.count));
      left -= some.count;
      result.push_back(std::move(some));
    }
  }

private:
  std::vector<std::uint32_t> take(std::uint32_t arc, std::int64_t count) {
    std::vector<CapacityRoute>& routes = routed_.routes[arc];
    std::vector<std::uint32_t> path = without_loops(network_, routes.back().links);
    routes.back().amount -= count;
    if (routes.back().amount == 0) routes.pop_back();
    return path;
  }

  const FlowNetwork& network_;
  RoutedNetwork& routed_;
};

} // namespace

Forest spread_forest(const FlowNetwork& network, std::span<const std::int64_t> bandwidth,
                     std::span<const std::int64_t> bytes, std::span<const std::uint32_t> terminals,
                     std::span<const double> weights, const WorkLimit& limit) {
  Plan made = plan(network, bandwidth, bytes, terminals);
  Forest& forest = made.forest;
  if (!forest.obstacle.empty()) return std::move(forest);
  // In lowest terms already, so these are the least integers: with time p/q, q trees for each unit
  // of bytes, and a capacity of p for each unit of bandwidth.
  forest.roots = made.bytes.counts;
  for (std::int64_t& roots : forest.roots) roots *= made.time.denominator();
  forest.capacity = made.bandwidth.counts;
  for (std::int64_t& capacity : forest.capacity) capacity *= made.time.numerator();
  std::optional<RoutedNetwork> routed = links_with(network, forest.capacity);
  if (!weights.empty()) {
    const Numbers before = routed->capacity;
    routed = without_spare_capacity(std::move(*routed), weights, forest.roots, terminals, limit);
    forest.saves = routed && routed->capacity != before;
  }
  if (routed) routed = without_switches(std::move(*routed), forest.roots, terminals, limit);
  std::optional<std::vector<SpanningTrees>> trees;
  if (routed)
    trees = pack_spanning_trees(routed->graph, routed->capacity, forest.roots, terminals, limit);
  if (!trees) {
    forest.timed_out = true;
    return std::move(forest);
  }
  TreeRoutes routes(network, *routed);
  for (const SpanningTrees& some : *trees) routes.add(some, forest.trees);
  return std::move(forest);
}

Forest forest_limit(const FlowNetwork& network, std::span<const std::int64_t> bandwidth,
                    std::span<const std::int64_t> bytes, std::span<const std::uint32_t> terminals) {
  return plan(network, bandwidth, bytes, terminals).forest;
}

} // namespace tutti
