#include "synth/flows/edge_splitting.hpp"

#include "synth/flows/flow_certificates.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tutti {

namespace {

__extension__ typedef __int128 int128;

/// With how many others an arc is paired at first, where there are so many. Few make trees deep (a
/// ring instead of a star), many make the network large.
constexpr std::int64_t partners = 16;

class Splitting {
public:
  Splitting(RoutedNetwork& network, std::span<const std::int64_t> supply,
            std::span<const std::uint32_t> terminals, const WorkLimit& limit)
      : network_(network), graph_(network.graph),
        certificates_(network.graph, network.capacity, supply, terminals), limit_(limit) {
    std::vector<bool> terminal(graph_.node_count());
    for (const std::uint32_t node : terminals) terminal[node] = true;
    for (std::uint32_t node = 0; node < graph_.node_count(); ++node)
      if (!terminal[node]) switches_.push_back(node);
  }

  /// False where the limit was reached.
  bool remove_all() {
    while (!switches_.empty()) {
      const auto smallest = std::ranges::min_element(switches_, {}, [&](std::uint32_t node) {
        return graph_.in[node].size() * graph_.out[node].size();
      });
      const std::uint32_t node = *smallest;
      switches_.erase(smallest);
      // first so that everyone is paired with many, then whatever is left
      if (!pass(node, true) || !pass(node, false)) return false;
      graph_.isolate(node);
    }
    return true;
  }

private:
  bool pass(std::uint32_t node, bool shared) {
    const std::vector<std::uint32_t> in = graph_.in[node], out = graph_.out[node];
    const std::vector<std::int64_t> before = network_.capacity;
    std::vector<std::int64_t> most(in.size());
    for (std::size_t o = 0; o < out.size(); ++o) {
      if (limit_.reached()) return false;
      for (std::size_t i = 0; i < in.size(); ++i)
        most[i] = shared ? share(before, in, i, out[o]) : before[out[o]];
      pair_up(out[o], in, o, most, false);
      if (!shared) pair_up(out[o], in, o, most, true);
      assert(shared || network_.capacity[out[o]] == 0);
    }
    return true;
  }

  /// Pairs an arc out with those in, beginning behind the one at the same place, so that all get
  /// different ones.
  void pair_up(std::uint32_t out, const std::vector<std::uint32_t>& in, std::size_t place,
               const std::vector<std::int64_t>& most, bool loops) {
    for (std::size_t i = 0; i < in.size() && network_.capacity[out] > 0; ++i) {
      const std::size_t at = (place + 1 + i) % in.size();
      if ((graph_.arcs[in[at]].from == graph_.arcs[out].to) == loops) split(in[at], out, most[at]);
    }
  }

  /// Of what leaves over `out`, the part that enters over the arc at `i` if all that enters from
  /// elsewhere divides itself evenly.
  [[nodiscard]] std::int64_t share(const std::vector<std::int64_t>& capacity,
                                   const std::vector<std::uint32_t>& in, std::size_t i,
                                   std::uint32_t out) const {
    std::int64_t others = 0;
    for (const std::uint32_t arc : in)
      if (graph_.arcs[arc].from != graph_.arcs[out].to) others += capacity[arc];
    if (others == 0) return 0;
    const int128 product = int128{capacity[in[i]]} * capacity[out];
    return std::max(static_cast<std::int64_t>((product + others - 1) / others),
                    (capacity[out] + partners - 1) / partners);
  }

  void split(std::uint32_t in, std::uint32_t out, std::int64_t most) {
    const std::int64_t amount = certificates_.split(in, out, most);
    if (amount == 0) return;
    const auto [from, to] = std::pair(graph_.arcs[in].from, graph_.arcs[out].to);
    network_.routes.resize(graph_.arcs.size());
    std::vector<CapacityRoute>* into = nullptr;
    if (from != to)
      for (const std::uint32_t arc : graph_.out[from])
        if (graph_.arcs[arc].to == to) into = &network_.routes[arc];
    join(network_.routes[in], network_.routes[out], amount, into);
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
  std::vector<std::uint32_t> switches_; ///< still there
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
  for (std::uint32_t arc = 0; arc < network.capacity.size(); ++arc) {
    if (network.capacity[arc] == 0) continue;
    rest.graph.add_arc(network.graph.arcs[arc].from, network.graph.arcs[arc].to);
    rest.capacity.push_back(network.capacity[arc]);
    rest.routes.push_back(std::move(network.routes[arc]));
  }
  return rest;
}

} // namespace tutti
