// Why: packing needs a graph of terminals only. Idea: take pairs of arcs at a switch in the order
// of how much the terminals' flows use them, and move to the bypassing arc as much capacity as
// leaves every terminal its flow (flow_certificates.hpp). Capacity that no flow needs is dropped
// rather than paired. Switches nearest to the terminals go first.

#include "synth/flows/packing/edge_splitting.hpp"

#include "synth/flows/packing/flow_certificates.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tutti {

namespace {

class Splitting {
public:
  Splitting(RoutedNetwork& network, std::span<const std::int64_t> supply,
            std::span<const std::uint32_t> terminals, const WorkLimit& limit)
      : network_(network), graph_(network.graph),
        certificates_(network.graph, network.capacity, supply, terminals), limit_(limit),
        stays_(graph_.node_count()) {
    for (const std::uint32_t node : terminals) stays_[node] = true;
  }

  /// False where the limit was reached.
  bool remove_all() {
    for (const std::uint32_t node : outwards()) {
      if (!remove(node)) return false;
      graph_.isolate(node);
    }
    return true;
  }

private:
  struct Pair {
    std::uint32_t in, out;
    std::int64_t used;
  };

  /// Switches by their distance from the terminals: trees branch where they enter the network and
  /// not before.
  [[nodiscard]] std::vector<std::uint32_t> outwards() const {
    std::vector<std::uint32_t> order;
    std::vector<bool> seen = stays_;
    for (std::uint32_t node = 0; node < stays_.size(); ++node)
      if (stays_[node]) order.push_back(node);
    const std::size_t terminals = order.size();
    for (std::size_t i = 0; i < order.size(); ++i)
      for (const std::uint32_t arc : graph_.out[order[i]])
        if (const std::uint32_t next = graph_.arcs[arc].to; !seen[next]) {
          seen[next] = true;
          order.push_back(next);
        }
    order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(terminals));
    return order;
  }

  /// False where the limit was reached.
  bool remove(std::uint32_t node) {
    const std::vector<Pair> pairs = pairs_of(node);
    const auto follow = [&](const Pair& pair) { // divides capacity as evenly as data comes
      split(pair, certificates_.used(pair.in, pair.out));
    };
    const auto balance = [&](const Pair& pair) { // or other switches would lose theirs
      if (!stays_[graph_.arcs[pair.in].from] || !stays_[graph_.arcs[pair.out].to])
        split(pair, network_.capacity[pair.in]);
    };
    const auto complete = [&](const Pair& pair) { split(pair, network_.capacity[pair.in]); };
    // All of it can always be split off. What no certificate needs between terminals is left out.
    if (!for_each(pairs, follow) || !for_each(pairs, balance) || !for_each(pairs, follow))
      return false;
    return !certificates_.use(node) || for_each(pairs, complete);
  }

  /// False where the limit was reached.
  template <typename Action> bool for_each(const std::vector<Pair>& pairs, const Action& action) {
    for (const Pair& pair : pairs) {
      if (network_.capacity[pair.in] == 0 || network_.capacity[pair.out] == 0) continue;
      if (limit_.reached()) return false;
      action(pair);
    }
    return true;
  }

  /// Those that certificates use most come first, loops last; of others alike each arc in gets
  /// another one out.
  [[nodiscard]] std::vector<Pair> pairs_of(std::uint32_t node) const {
    const std::vector<std::uint32_t>&in = graph_.in[node], &out = graph_.out[node];
    const std::vector<std::int64_t> used = certificates_.used_at(node);
    std::vector<Pair> pairs;
    pairs.reserve(used.size());
    for (std::size_t shift = 0; shift < out.size(); ++shift)
      for (std::size_t i = 0; i < in.size(); ++i) {
        const std::size_t other = (i + shift) % out.size();
        pairs.push_back({in[i], out[other], used[i * out.size() + other]});
      }
    const auto loop = [&](const Pair& pair) {
      return graph_.arcs[pair.in].from == graph_.arcs[pair.out].to;
    };
    std::ranges::stable_sort(pairs, [&](const Pair& a, const Pair& b) {
      return std::pair(loop(a), -a.used) < std::pair(loop(b), -b.used);
    });
    return pairs;
  }

  void split(const Pair& pair, std::int64_t most) {
    const std::int64_t amount = certificates_.split(pair.in, pair.out, most);
    if (amount == 0) return;
    const std::uint32_t from = graph_.arcs[pair.in].from, to = graph_.arcs[pair.out].to;
    network_.routes.resize(graph_.arcs.size());
    std::vector<CapacityRoute>* into = nullptr;
    if (from != to)
      for (const std::uint32_t arc : graph_.out[from])
        if (graph_.arcs[arc].to == to) into = &network_.routes[arc];
    join(network_.routes[pair.in], network_.routes[pair.out], amount, into);
  }

  /// Takes so much of both, and puts their links in a row.
  static void join(std::vector<CapacityRoute>& in, std::vector<CapacityRoute>& out,
                   std::int64_t amount, std::vector<CapacityRoute>* into) {
    while (amount > 0) {
      const std::int64_t part = std::min({amount, in.back().amount, out.back().amount});
      if (into != nullptr) {
        CapacityRoute& route = into->emplace_back(CapacityRoute{part, in.back().links});
        route.links.insert(route.links.end(), out.back().links.begin(), out.back().links.end());
      }
      amount -= part;
      for (std::vector<CapacityRoute>* routes : {&in, &out}) {
        routes->back().amount -= part;
        if (routes->back().amount == 0) routes->pop_back();
      }
    }
  }

  RoutedNetwork& network_;
  ArcGraph& graph_;
  FlowCertificates certificates_;
  const WorkLimit& limit_;
  std::vector<bool> stays_; ///< [node]: is a terminal
};

} // namespace

void RoutedNetwork::add(std::uint32_t from, std::uint32_t to, CapacityRoute route) {
  for (const std::uint32_t arc : graph.out[from])
    if (graph.arcs[arc].to == to) {
      capacity[arc] += route.amount;
      routes[arc].push_back(std::move(route));
      return;
    }
  graph.add_arc(from, to);
  capacity.push_back(route.amount);
  routes.push_back({std::move(route)});
}

std::optional<RoutedNetwork> without_switches(RoutedNetwork network,
                                              std::span<const std::int64_t> supply,
                                              std::span<const std::uint32_t> terminals,
                                              const WorkLimit& limit) {
  if (!Splitting(network, supply, terminals, limit).remove_all()) return std::nullopt;
  RoutedNetwork rest(network.graph.node_count());
  std::vector<bool> terminal(network.graph.node_count());
  for (const std::uint32_t node : terminals) terminal[node] = true;
  for (std::uint32_t arc = 0; arc < network.capacity.size(); ++arc) {
    const auto [from, to] = network.graph.arcs[arc];
    if (network.capacity[arc] == 0 || !terminal[from] || !terminal[to]) continue;
    rest.graph.add_arc(from, to);
    rest.capacity.push_back(network.capacity[arc]);
    rest.routes.push_back(std::move(network.routes[arc]));
  }
  return rest;
}

} // namespace tutti
