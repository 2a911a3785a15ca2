// Why: packing needs a graph of terminals only. Idea: take pairs of arcs at a switch in the order
// of how much the terminals' flows use them, and move to the bypassing arc as much capacity as
// leaves every terminal its flow. Capacity that no flow needs is dropped rather than paired.
// Switches nearest to the terminals go first.
//
// Proofs that terminals still get everything (FlowCertificates) are kept up to date while the
// network changes. Invariant: every certificate is a feasible flow of all supplies to its terminal.
// A split lowers two capacities; only flows that exceed these are rerouted, and if one can't be,
// what is missing is exactly how much the split was too large, so that it is undone and made
// smaller.

#include "synth/flows/packing/edge_splitting.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

/// A flow of all supplies to each terminal. What a change doesn't concern stays; the rest is
/// rerouted around it, which is less work than the tests of the paper with flows of their own.
class FlowCertificates {
public:
  /// Both are changed here, and only here while there are certificates. Pre: each terminal can get
  /// all supplies at once.
  FlowCertificates(ArcGraph& graph, std::vector<std::int64_t>& capacity,
                   std::span<const std::int64_t> supply, std::span<const std::uint32_t> terminals);

  /// Moves capacity from an arc u -> w and an arc w -> t to one u -> t, of which there is at most
  /// one: as much as all terminals can do without, but no more than `most`. Nothing of u -> w -> u
  /// remains. Returns the amount.
  std::int64_t split(std::uint32_t in, std::uint32_t out, std::int64_t most);

  /// The most that can pass one arc and then another in a flow to one terminal.
  [[nodiscard]] std::int64_t used(std::uint32_t in, std::uint32_t out) const;
  /// The same of all pairs at a node: [index in graph.in * arcs out + index in graph.out]. Cost:
  /// for each terminal the arcs in times the arcs out that its flow takes.
  [[nodiscard]] std::vector<std::int64_t> used_at(std::uint32_t node) const;
  /// Does some flow pass this node, or end there?
  [[nodiscard]] bool use(std::uint32_t node) const;

private:
  struct Pair {
    std::uint32_t in, out;
    std::optional<std::uint32_t> around;
  };
  std::optional<std::uint32_t> around(std::uint32_t in, std::uint32_t out);
  void move_capacity(const Pair& pair, std::int64_t amount);
  std::int64_t reroute_all(const Pair& pair);
  std::int64_t reroute(const Pair& pair, std::size_t certificate);
  std::int64_t detour(std::size_t certificate, std::uint32_t arc);
  void change(std::size_t certificate, std::uint32_t arc, std::int64_t amount);
  void take_back();

  ArcGraph& graph_;
  std::vector<std::int64_t>& capacity_;
  SupplyFlow flows_;
  /// [][arc]: a flow for each terminal; those that forbade a split most recently come first.
  std::vector<std::vector<std::int64_t>> certificates_;
  struct Change {
    std::size_t certificate;
    std::uint32_t arc;
    std::int64_t amount;
  };
  std::vector<Change> changes_;        ///< of this split, to be taken back if it is too much
  std::vector<std::int64_t> detoured_; ///< [node]: 0 but for one
};

FlowCertificates::FlowCertificates(ArcGraph& graph, std::vector<std::int64_t>& capacity,
                                   std::span<const std::int64_t> supply,
                                   std::span<const std::uint32_t> terminals)
    : graph_(graph), capacity_(capacity), flows_(graph), detoured_(graph.node_count()) {
  const std::int64_t total = std::reduce(supply.begin(), supply.end(), std::int64_t{0});
  std::vector<std::int64_t> left;
  for (const std::uint32_t terminal : terminals) {
    std::vector<std::int64_t>& flow = certificates_.emplace_back(capacity.size());
    left.assign(supply.begin(), supply.end());
    [[maybe_unused]] const std::int64_t sent = flows_.send(capacity, flow, left, terminal, total);
    assert(sent == total);
  }
}

std::int64_t FlowCertificates::split(std::uint32_t in, std::uint32_t out, std::int64_t most) {
  const std::size_t arcs = graph_.arcs.size();
  const Pair pair{in, out, around(in, out)};
  std::int64_t amount = std::min({most, capacity_[in], capacity_[out]});
  while (amount > 0) {
    move_capacity(pair, amount);
    // The largest flow falls by one with every unit that some cut loses, once it is tight: what is
    // missing was too much.
    const std::int64_t missing = reroute_all(pair);
    if (missing == 0) break;
    take_back();
    move_capacity(pair, -amount);
    amount -= missing;
  }
  changes_.clear();
  if (amount <= 0 && graph_.arcs.size() > arcs) {
    graph_.remove_last_arc();
    capacity_.pop_back();
    for (std::vector<std::int64_t>& flow : certificates_) flow.pop_back();
  }
  return std::max<std::int64_t>(amount, 0);
}

std::int64_t FlowCertificates::used(std::uint32_t in, std::uint32_t out) const {
  std::int64_t most = 0;
  for (const std::vector<std::int64_t>& flow : certificates_)
    most = std::max(most, std::min(flow[in], flow[out]));
  return most;
}

std::vector<std::int64_t> FlowCertificates::used_at(std::uint32_t node) const {
  const std::vector<std::uint32_t>&in = graph_.in[node], &out = graph_.out[node];
  std::vector<std::int64_t> most(in.size() * out.size());
  std::vector<std::size_t> taken; // of `out`
  for (const std::vector<std::int64_t>& flow : certificates_) {
    taken.clear();
    for (std::size_t j = 0; j < out.size(); ++j)
      if (flow[out[j]] > 0) taken.push_back(j);
    for (std::size_t i = 0; i < in.size(); ++i)
      for (const std::size_t j : taken) {
        std::int64_t& pair = most[i * out.size() + j];
        pair = std::max(pair, std::min(flow[in[i]], flow[out[j]]));
      }
  }
  return most;
}

bool FlowCertificates::use(std::uint32_t node) const {
  return std::ranges::any_of(certificates_, [&](const std::vector<std::int64_t>& flow) {
    return std::ranges::any_of(graph_.in[node], [&](std::uint32_t arc) { return flow[arc] > 0; });
  });
}

/// The arc that is there, or a new one without capacity; nothing for a loop.
std::optional<std::uint32_t> FlowCertificates::around(std::uint32_t in, std::uint32_t out) {
  const std::uint32_t from = graph_.arcs[in].from, to = graph_.arcs[out].to;
  if (from == to) return std::nullopt;
  for (const std::uint32_t arc : graph_.out[from])
    if (graph_.arcs[arc].to == to) return arc;
  capacity_.push_back(0);
  for (std::vector<std::int64_t>& flow : certificates_) flow.push_back(0);
  return graph_.add_arc(from, to);
}

void FlowCertificates::move_capacity(const Pair& pair, std::int64_t amount) {
  capacity_[pair.in] -= amount;
  capacity_[pair.out] -= amount;
  if (pair.around) capacity_[*pair.around] += amount;
}

/// What is missing at the first terminal that doesn't get everything any longer.
std::int64_t FlowCertificates::reroute_all(const Pair& pair) {
  for (std::size_t i = 0; i < certificates_.size(); ++i) {
    const std::vector<std::int64_t>& flow = certificates_[i];
    if (flow[pair.in] <= capacity_[pair.in] && flow[pair.out] <= capacity_[pair.out]) continue;
    if (const std::int64_t missing = reroute(pair, i); missing > 0) {
      take_back();
      const auto found = certificates_.begin() + static_cast<std::ptrdiff_t>(i);
      std::rotate(certificates_.begin(), found, found + 1);
      return missing;
    }
  }
  return 0;
}

/// First what passes both arcs goes around; of what is still too much on one, the rest.
std::int64_t FlowCertificates::reroute(const Pair& pair, std::size_t certificate) {
  const std::vector<std::int64_t>& flow = certificates_[certificate];
  const std::int64_t excess =
      std::max(flow[pair.in] - capacity_[pair.in], flow[pair.out] - capacity_[pair.out]);
  const std::int64_t both = std::min({excess, flow[pair.in], flow[pair.out]});
  change(certificate, pair.in, -both);
  change(certificate, pair.out, -both);
  if (pair.around) change(certificate, *pair.around, both);
  return detour(certificate, pair.in) + detour(certificate, pair.out);
}

/// Takes what is too much off an arc and sends it from its beginning to its end by other paths.
/// Returns what finds none.
std::int64_t FlowCertificates::detour(std::size_t certificate, std::uint32_t arc) {
  std::vector<std::int64_t>& flow = certificates_[certificate];
  const std::int64_t excess = flow[arc] - capacity_[arc];
  if (excess <= 0) return 0;
  const auto [from, to] = graph_.arcs[arc];
  change(certificate, arc, -excess);
  detoured_[from] = excess;
  const std::int64_t sent = flows_.send(capacity_, flow, detoured_, to, excess);
  detoured_[from] = 0;
  for (const SupplyFlow::Change& one : flows_.changes())
    changes_.push_back({certificate, one.arc, one.amount});
  return excess - sent;
}

void FlowCertificates::change(std::size_t certificate, std::uint32_t arc, std::int64_t amount) {
  certificates_[certificate][arc] += amount;
  changes_.push_back({certificate, arc, amount});
}

void FlowCertificates::take_back() {
  for (const auto& [certificate, arc, amount] : changes_) certificates_[certificate][arc] -= amount;
  changes_.clear();
}

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
