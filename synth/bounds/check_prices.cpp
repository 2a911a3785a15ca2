// Cheapest trees for the checker of bounds. They are trees of deliveries: from a node that has the
// data, over nodes that only pass it on, to the next that may send it on more than once.

#include "synth/bounds/check_prices.hpp"

#include <algorithm>
#include <utility>

namespace tutti::bounds::checking {

namespace {

using Costs = std::vector<std::int64_t>;

struct Delivery {
  std::uint32_t from, to; ///< vertices: 0 is all roots together
  std::int64_t cost;
};

struct DeliveryGraph {
  std::uint32_t vertices = 0;
  std::uint32_t wanted = 0; ///< vertices 1 to this one; the others may help
  std::vector<Delivery> deliveries;
};

/// Along the links, from the roots to nodes that want something, over nodes that copy; or against
/// them over nodes that reduce.
DeliveryGraph delivery_graph(const Topology& topology, std::span<const NodeId> roots,
                             std::span<const NodeId> wanted, const Costs& costs, Sense sense) {
  const auto spreads = [&](NodeId node) {
    const Abilities& can = topology.node(node).can;
    return sense == Sense::along ? can.copy : can.reduce;
  };
  constexpr std::uint32_t none = UINT32_MAX;
  std::vector<std::uint32_t> vertex(topology.node_count(), none);
  for (const NodeId root : roots) vertex[root.value] = 0;
  std::vector<std::vector<NodeId>> nodes{{roots.begin(), roots.end()}};
  const auto add = [&](NodeId node) {
    if (vertex[node.value] != none) return;
    vertex[node.value] = static_cast<std::uint32_t>(nodes.size());
    nodes.push_back({node});
  };
  for (const NodeId node : wanted) add(node);
  DeliveryGraph graph;
  graph.wanted = static_cast<std::uint32_t>(nodes.size() - 1);
  for (std::uint32_t v = 0; v < topology.node_count(); ++v)
    if (spreads(NodeId{v})) add(NodeId{v});
  graph.vertices = static_cast<std::uint32_t>(nodes.size());
  for (std::uint32_t from = 0; from < graph.vertices; ++from) {
    const Costs sums = least_sums(topology, nodes[from], costs, sense,
                                  [&](NodeId node) { return !spreads(node); });
    for (std::uint32_t to = 1; to < graph.vertices; ++to)
      if (to != from && sums[nodes[to].front().value] < unreachable)
        graph.deliveries.push_back({from, to, sums[nodes[to].front().value]});
  }
  return graph;
}

/// The cost of the cheapest tree from vertex 0 to all (Chu and Liu, Edmonds): the cheapest delivery
/// to each vertex and, where these go in cycles, a cycle as one vertex, to which deliveries cost
/// what they cost more than the one that they replace.
std::int64_t spanning_tree(DeliveryGraph graph) {
  constexpr std::uint32_t none = UINT32_MAX;
  std::int64_t sum = 0;
  for (std::uint32_t root = 0;;) {
    std::vector<const Delivery*> cheapest(graph.vertices);
    for (const Delivery& d : graph.deliveries)
      if (!cheapest[d.to] || d.cost < cheapest[d.to]->cost) cheapest[d.to] = &d;
    std::vector<std::uint32_t> cycle(graph.vertices, none), seen(graph.vertices, none);
    std::uint32_t cycles = 0;
    for (std::uint32_t v = 0; v < graph.vertices; ++v) {
      if (v == root) continue;
      if (!cheapest[v]) return 0; // can't be reached
      sum += cheapest[v]->cost;
      std::uint32_t u = v;
      for (; u != root && seen[u] == none; u = cheapest[u]->from) seen[u] = v;
      if (u == root || seen[u] != v || cycle[u] != none) continue;
      for (; cycle[u] == none; u = cheapest[u]->from) cycle[u] = cycles;
      ++cycles;
    }
    if (cycles == 0) return sum;
    std::uint32_t vertices = cycles;
    for (std::uint32_t v = 0; v < graph.vertices; ++v)
      if (cycle[v] == none) cycle[v] = vertices++;
    std::vector<Delivery> between;
    for (const Delivery& d : graph.deliveries)
      if (d.to != root && cycle[d.from] != cycle[d.to])
        between.push_back({cycle[d.from], cycle[d.to], d.cost - cheapest[d.to]->cost});
    root = cycle[root];
    graph.vertices = vertices;
    graph.deliveries = std::move(between);
  }
}

/// Sets that a tree must enter, since someone who wants the data is in them and its roots aren't,
/// raise what they take from each arc that enters them, until the arcs' costs are used up.
std::int64_t dual_ascent(DeliveryGraph graph) {
  std::int64_t sum = 0;
  for (std::uint32_t v = 1; v <= graph.wanted; ++v) {
    std::vector<bool> inside(graph.vertices);
    inside[v] = true;
    while (!inside[0]) {
      std::int64_t least = INT64_MAX;
      for (const Delivery& d : graph.deliveries)
        if (inside[d.to] && !inside[d.from]) least = std::min(least, d.cost);
      if (least == INT64_MAX) return 0; // can't be reached
      sum += least;
      for (Delivery& d : graph.deliveries)
        if (inside[d.to] && !inside[d.from]) d.cost -= least;
      for (bool grows = true; grows;) {
        grows = false;
        for (const Delivery& d : graph.deliveries)
          if (d.cost == 0 && inside[d.to] && !inside[d.from]) inside[d.from] = grows = true;
      }
    }
  }
  return sum;
}

std::int64_t cheapest_tree(const Topology& topology, std::span<const NodeId> roots,
                           std::span<const NodeId> wanted, const Costs& costs, Sense sense) {
  DeliveryGraph graph = delivery_graph(topology, roots, wanted, costs, sense);
  const bool only_wanted = graph.vertices == graph.wanted + 1;
  return (only_wanted ? spanning_tree : dual_ascent)(std::move(graph));
}

/// Everybody who reduces contributes, and every contributor reduces, copies and wants the result.
bool only_alike_reduce(const Topology& topology, std::span<const NodeId> held,
                       std::span<const NodeId> wanted) {
  for (std::uint32_t v = 0; v < topology.node_count(); ++v) {
    const Abilities& can = topology.node(NodeId{v}).can;
    const bool contributes = std::ranges::binary_search(held, NodeId{v});
    if (contributes ? !can.reduce || !can.copy : can.reduce) return false;
  }
  return std::ranges::equal(held, wanted);
}

} // namespace

std::int64_t least_payment(const Topology& topology, const Collective& collective,
                           const Shipment& shipment, std::span<const NodeId> sources,
                           const Costs& costs) {
  const std::span<const NodeId> held = collective.sets[shipment.sources],
                                wanted = collective.sets[shipment.destinations];
  if (wanted.empty() || held.empty()) return 0;
  if (!shipment.reduces || held.size() == 1)
    return cheapest_tree(topology, sources, wanted, costs, Sense::along);
  const auto gathered = [&](NodeId at) {
    return cheapest_tree(topology, std::span(&at, 1), held, costs, Sense::against);
  };
  const auto spread = [&](NodeId from) {
    return cheapest_tree(topology, std::span(&from, 1), wanted, costs, Sense::along);
  };
  std::int64_t most = 0;
  if (only_alike_reduce(topology, held, wanted)) {
    most = INT64_MAX;
    for (const NodeId first : held) most = std::min(most, gathered(first) + spread(first));
    return most;
  }
  for (const NodeId node : wanted) most = std::max(most, gathered(node));
  for (const NodeId node : held) most = std::max(most, spread(node));
  return most;
}

} // namespace tutti::bounds::checking
