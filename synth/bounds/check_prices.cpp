// Why: whatever carries data pays for what it crosses. Idea: what each byte pays at least, by the
// cheapest trees, and what links can earn at most. Trees are of deliveries: from a node that has
// the data, over nodes that only pass it on, to the next that may send it on more than once.

#include "synth/bounds/check_prices.hpp"

#include "synth/bounds/check_network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

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

/// What a byte of the shipment pays at least where crossing a link costs `costs` [link], whatever
/// trees or paths carry it. Where it isn't reduced it starts at `sources`. Pre: costs >= 0; sums
/// over all links fit.
///   copied     a tree from the sources, as one vertex, to all who want it, over nodes that copy.
///   reduced    the same inverted, over nodes that reduce, to the one who wants it.
///   both       To everyone who wants it come all contributions, from each contributor something
///              comes to all who want it: the largest of these trees. Where nobody reduces but the
///              contributors, all of whom reduce, copy and want it, the deliveries hold two trees
///              that share none of them, one to some node and one from it: the least over nodes of
///              both together. (Let r be the first to have it all. What others contribute came to
///              r by deliveries. If none of these held r's own contribution, the deliveries that
///              first took that to each other are apart from them. Where some did, since r took
///              back what it had sent off, another node serves: not proven here, but true of all
///              sequences of deliveries among 3 and 4 nodes, which were tried one by one.)
/// A tree to one node is a path. Trees are found exactly (Edmonds 1967) where only those copy
/// (reduce) that the data must reach; else dual ascent (Wong 1984) bounds them, over those who want
/// it in ascending order.
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

/// Who can have some of it by then, or be about to: crossings that began before end there.
std::vector<NodeId> sources_at(const Claim& claim, const Shipment& shipment, Time time) {
  std::vector<NodeId> sources(claim.held(shipment).begin(), claim.held(shipment).end());
  if (time.ps == 0) return sources;
  const auto head =
      claim.heads(claim.held(shipment), shipment.load.smallest, Sense::along, anywhere);
  for (const Link& link : claim.topology.links())
    if (head[link.from.value] < time.ps) sources.push_back(link.to);
  std::ranges::sort(sources);
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  return sources;
}

} // namespace

std::string prices_fault(const Claim& claim) {
  constexpr double most = 1LL << 40;
  const std::uint32_t links = claim.topology.link_count();
  if (claim.proof.prices.size() != links + claim.topology.groups().size())
    return "no price for each link";
  std::vector<std::int64_t> price;
  for (const double each : claim.proof.prices) {
    if (!(each >= 0 && each <= most) || std::floor(each) != each)
      return "a price that isn't a whole number of 40 bits";
    price.push_back(static_cast<std::int64_t>(each));
  }
  std::vector<std::int64_t> costs;
  for (std::uint32_t l = 0; l < links; ++l) {
    costs.push_back(price[l]);
    for (const std::uint32_t g : claim.topology.groups_of(LinkId{l}))
      costs.back() += price[links + g];
  }
  if (claim.fluid() && claim.proof.from.ps > 0)
    return "a transfer of fluid sharing uses all links of its path at once";
  std::vector<Shipment> moving;
  long double paid = 0;
  std::vector<NodeId> sources;          // of the shipments from one set
  std::vector<std::int64_t> cheapest;   // paths from there
  const Shipment* from_there = nullptr; // one of them
  for (const Shipment& s : claim.all) {
    const bool reduced = s.reduces && claim.held(s).size() > 1;
    if (reduced && claim.proof.from.ps > 0) continue;
    if (!from_there || from_there->sources != s.sources) {
      sources = sources_at(claim, s, claim.proof.from);
      cheapest = least_sums(claim.topology, sources, costs, Sense::along, anywhere);
      from_there = &s;
    }
    const std::int64_t each =
        !reduced && claim.wanted(s).size() == 1
            ? cheapest[claim.wanted(s).front().value]
            : least_payment(claim.topology, claim.collective, s, sources, costs);
    if (each == 0 || each >= unreachable) continue;
    moving.push_back(s);
    paid += static_cast<long double>(each) * static_cast<long double>(s.load.bytes);
  }
  if (moving.empty()) return claim.not_enough("what pays");
  const Bytes size = total(moving).smallest;
  const auto head = claim.heads(claim.sources(moving), size, Sense::along, anywhere);
  const auto tail = claim.tails(claim.destinations(moving), size, Sense::against, anywhere);
  long double earned = 0;
  const auto earn = [&](std::int64_t at, Bandwidth bandwidth, std::span<const LinkId> carriers) {
    std::int64_t entry = unreachable, exit = unreachable;
    for (const LinkId id : carriers) {
      const Link& link = claim.topology.link(id);
      if (head[link.from.value] >= unreachable || tail[link.to.value] >= unreachable) continue;
      entry = std::min(entry, std::max(head[link.from.value], claim.proof.from.ps));
      exit = std::min(exit, tail[link.to.value] + std::min(link.latency.ps, unreachable));
    }
    const std::int64_t left = claim.before() - entry - exit;
    if (left > 0)
      earned += static_cast<long double>(at) * static_cast<long double>(left) *
                static_cast<long double>(bandwidth.bytes_per_second);
  };
  for (std::uint32_t l = 0; l < links; ++l)
    earn(price[l], claim.topology.link(LinkId{l}).bandwidth, std::array{LinkId{l}});
  for (std::size_t g = 0; g < claim.topology.groups().size(); ++g)
    earn(price[links + g], claim.topology.groups()[g].bandwidth, claim.topology.groups()[g].links);
  // Sums of products beyond 128 bits: each term and each addition is off by a few units in the
  // last of 64 places.
  const long double terms = static_cast<long double>(price.size() + claim.all.size()) + 4;
  const long double off = std::numeric_limits<long double>::epsilon() * 4 * terms;
  if (earned * (1 + off) < paid * static_cast<long double>(ps_per_s)) return {};
  return claim.not_enough("what pays");
}

} // namespace tutti::bounds::checking
