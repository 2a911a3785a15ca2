// Why before switches are split off: the flows that decide which pairs of arcs are joined there
// take any path that has capacity. On DGX A100 without NVLink rails have six to twelve times what
// is needed while GPUs' own links are busy, and trees crossed them three to four times as often as
// they must.
//
// Idea: capacity changes along closed walks, which leave every switch that they enter (terminals
// needn't be balanced: a walk that reaches one may go on from any other). First all walks with a
// cost give up everything. Then each terminal that lacks something has a cut around it into which
// too little leads. The walks across it, the cheapest first, get back what is missing, in
// proportion to what they gave, all cuts at once, until there is no such cut: links alike end up
// alike. Last, walk by walk, what can still go goes: units that were rounded up, and what several
// cuts got back apart. Flows to all terminals prove what is possible, and only those that a change
// concerns are rerouted.
//
// No optimum: on small random networks it saves nine tenths of what a linear program says can be
// saved, and in one of fifty there is more traffic than without it.

#include "synth/flows/packing/spare_capacity.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace tutti {

namespace {

__extension__ typedef __int128 int128;

/// [arc]: what a unit of its capacity costs beyond what all forests pay. Every forest has the same
/// number of hops, into each terminal too: the cheapest link into it, and the cheapest way out of
/// any, is the least for each hop.
std::vector<double> avoidable_costs(const RoutedNetwork& network, std::span<const double> weights,
                                    const std::vector<bool>& is_terminal) {
  const ArcGraph& graph = network.graph;
  std::vector<double> costs;
  for (const std::vector<CapacityRoute>& routes : network.routes)
    costs.push_back(weights[routes.front().links.front()]);
  const auto reduce = [&](const std::vector<std::uint32_t>& arcs) {
    double least = std::numeric_limits<double>::infinity();
    for (const std::uint32_t arc : arcs) least = std::min(least, costs[arc]);
    for (const std::uint32_t arc : arcs) costs[arc] -= least;
  };
  std::vector<std::uint32_t> out; // of all terminals
  for (std::uint32_t node = 0; node < is_terminal.size(); ++node) {
    if (!is_terminal[node]) continue;
    reduce(graph.in[node]);
    out.insert(out.end(), graph.out[node].begin(), graph.out[node].end());
  }
  reduce(out);
  return costs;
}

class SpareCapacity {
public:
  SpareCapacity(const RoutedNetwork& network, std::span<const double> weights,
                std::span<const std::int64_t> supply, std::span<const std::uint32_t> terminals,
                const WorkLimit& limit)
      : graph_(network.graph), capacity_(network.capacity), supply_(supply),
        total_(std::reduce(supply.begin(), supply.end(), std::int64_t{0})), terminals_(terminals),
        limit_(limit), is_terminal_(graph_.node_count()), flows_(graph_),
        excess_(graph_.node_count()) {
    for (const std::uint32_t node : terminals) is_terminal_[node] = true;
    costs_ = avoidable_costs(network, weights, is_terminal_);
  }

  /// [arc]: capacities that are left; nothing where the limit was reached.
  std::optional<std::vector<std::int64_t>> run() {
    give_all();
    if (walks_.empty()) return std::move(capacity_);
    for (Cuts cuts; find_cuts(cuts);) {
      if (cuts.empty()) {
        if (!give_rest()) break;
        return std::move(capacity_);
      }
      give_back(cuts);
    }
    return std::nullopt;
  }

private:
  using Arcs = std::vector<std::uint32_t>;
  struct Walk {
    Arcs arcs;
    double cost = 0;
    std::int64_t given = 0; ///< by each of its arcs
  };
  /// Nodes with a terminal that lacks something, and how much capacity into them it lacks.
  using Cuts = std::map<std::vector<bool>, std::int64_t>;

  void give_all() {
    const auto give = [&](Arcs arcs) {
      Walk walk{std::move(arcs), 0, std::numeric_limits<std::int64_t>::max()};
      for (const std::uint32_t arc : walk.arcs) {
        walk.cost += costs_[arc];
        walk.given = std::min(walk.given, capacity_[arc]);
      }
      change(walk.arcs, -walk.given);
      if (walk.given > 0) walks_.push_back(std::move(walk));
    };
    for (std::uint32_t arc = 0; arc < costs_.size(); ++arc) // cables first: no order among them
      for (const std::uint32_t back : graph_.out[graph_.arcs[arc].to])
        if (costs_[arc] > 0 && graph_.arcs[back].to == graph_.arcs[arc].from &&
            !joins_terminals(arc))
          give({arc, back});
    for (std::uint32_t arc = 0; arc < costs_.size(); ++arc)
      while (costs_[arc] > 0 && capacity_[arc] > 0) {
        Arcs walk = closed_walk(arc, capacity_);
        if (walk.empty()) break;
        give(std::move(walk));
      }
  }

  [[nodiscard]] bool joins_terminals(std::uint32_t arc) const {
    return is_terminal_[graph_.arcs[arc].from] && is_terminal_[graph_.arcs[arc].to];
  }

  void change(const Arcs& arcs, std::int64_t amount) {
    for (const std::uint32_t arc : arcs) capacity_[arc] += amount;
  }

  /// The shortest over this arc and others that are usable [arc], not 0; empty where there is none.
  [[nodiscard]] Arcs closed_walk(std::uint32_t arc, const std::vector<std::int64_t>& usable) const {
    const auto [goal, start] = graph_.arcs[arc];
    constexpr std::uint32_t none = UINT32_MAX;
    std::vector<bool> seen(graph_.node_count());
    Arcs over(graph_.node_count(), none), queue; // [node]: the arc to it, or to another terminal
    bool at_terminals = false;
    const auto reach = [&](std::uint32_t node, std::uint32_t by) {
      if (seen[node]) return;
      seen[node] = true;
      over[node] = by;
      queue.push_back(node);
    };
    const auto arrive = [&](std::uint32_t node, std::uint32_t by) {
      reach(node, by);
      if (!is_terminal_[node] || std::exchange(at_terminals, true)) return;
      for (const std::uint32_t other : terminals_) reach(other, by);
    };
    arrive(start, none);
    for (std::size_t i = 0; i < queue.size() && !seen[goal]; ++i)
      for (const std::uint32_t out : graph_.out[queue[i]])
        if (usable[out] > 0 && out != arc) arrive(graph_.arcs[out].to, out);
    if (!seen[goal]) return {};
    Arcs walk{arc};
    for (std::uint32_t by = over[goal]; by != none; by = over[graph_.arcs[by].from])
      walk.push_back(by);
    return walk;
  }

  /// Around every terminal that doesn't get everything the least set of nodes; where there is none,
  /// the flows are certificates. False where the limit was reached.
  bool find_cuts(Cuts& cuts) {
    cuts.clear();
    certificates_.clear();
    std::vector<std::int64_t> left;
    for (const std::uint32_t terminal : terminals_) {
      if (limit_.reached()) return false;
      std::vector<std::int64_t>& flow = certificates_.emplace_back(capacity_.size());
      left.assign(supply_.begin(), supply_.end());
      const std::int64_t sent = flows_.send(capacity_, flow, left, terminal, total_);
      if (sent < total_) cuts.emplace(flows_.sink_side(), total_ - sent);
    }
    return true;
  }

  /// How often it enters the set.
  [[nodiscard]] std::int64_t entries(const Arcs& walk, const std::vector<bool>& set) const {
    return std::ranges::count_if(walk, [&](std::uint32_t arc) {
      return !set[graph_.arcs[arc].from] && set[graph_.arcs[arc].to];
    });
  }

  /// Every walk gets the most that a cut wants from it: the order of cuts doesn't matter.
  void give_back(const Cuts& cuts) {
    std::vector<std::int64_t> given;
    for (const Walk& walk : walks_) given.push_back(walk.given);
    for (const auto& [set, lack] : cuts) {
      struct Entering {
        std::size_t walk;
        std::int64_t times;
      };
      std::map<double, std::vector<Entering>> by_price; // of a unit into the set
      for (std::size_t w = 0; w < walks_.size(); ++w)
        if (const std::int64_t times = entries(walks_[w].arcs, set); times > 0)
          by_price[walks_[w].cost / static_cast<double>(times)].push_back({w, times});
      std::int64_t lacking = lack;
      for (const auto& [price, entering] : by_price) {
        std::int64_t all = 0;
        for (const auto& [w, times] : entering) all += times * walks_[w].given;
        if (all == 0) continue;
        const std::int64_t kept = std::max<std::int64_t>(all - lacking, 0);
        for (const auto& [w, times] : entering)
          given[w] =
              std::min(given[w], static_cast<std::int64_t>(int128{walks_[w].given} * kept / all));
        lacking -= all - kept;
        if (lacking == 0) break;
      }
    }
    for (std::size_t w = 0; w < walks_.size(); ++w)
      change(walks_[w].arcs, std::exchange(walks_[w].given, given[w]) - given[w]);
  }

  /// The dearest links first, along whatever walk can give something. What once is needed remains
  /// so. False where the limit was reached.
  bool give_rest() {
    Arcs order;
    for (std::uint32_t arc = 0; arc < costs_.size(); ++arc)
      if (costs_[arc] > 0) order.push_back(arc);
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::uint32_t arc) { return costs_[arc]; });
    std::vector<std::int64_t> usable = capacity_; // 0 where all of it is known to be needed
    for (const std::uint32_t arc : order)
      while (usable[arc] > 0) {
        if (limit_.reached()) return false;
        const Arcs walk = closed_walk(arc, usable);
        if (walk.empty() || !give_some(walk, usable)) break;
      }
    return true;
  }

  /// False where it can't, though any of its arcs could by itself.
  bool give_some(const Arcs& walk, std::vector<std::int64_t>& usable) {
    if (lower(walk)) {
      for (const std::uint32_t arc : walk) usable[arc] = std::min(usable[arc], capacity_[arc]);
      return true;
    }
    bool some_needed = false;
    for (const std::uint32_t arc : walk) {
      if (beyond({arc}, 1) == 0) {
        ++capacity_[arc];
      } else {
        usable[arc] = 0;
        some_needed = true;
      }
    }
    return some_needed;
  }

  /// As much as can be. False: nothing. One unit is tried first, which concerns few flows.
  bool lower(const Arcs& walk) {
    if (beyond(walk, 1) > 0) return false;
    std::int64_t amount = std::numeric_limits<std::int64_t>::max();
    for (const std::uint32_t arc : walk) amount = std::min(amount, capacity_[arc]);
    while (amount > 0) {
      const std::int64_t too_much = beyond(walk, amount);
      if (too_much == 0) break;
      amount -= too_much;
    }
    return true;
  }

  /// Lowers all these capacities by so much, if all terminals can do without: 0. Else by how much,
  /// at least, that is too much, and everything is as before.
  std::int64_t beyond(const Arcs& walk, std::int64_t amount) {
    change(walk, -amount);
    std::vector<std::pair<std::size_t, std::vector<std::int64_t>>> before;
    for (std::size_t c = 0; c < certificates_.size(); ++c) {
      const auto exceeds = [&](std::uint32_t arc) {
        return certificates_[c][arc] > capacity_[arc];
      };
      if (std::ranges::none_of(walk, exceeds)) continue;
      before.emplace_back(c, certificates_[c]);
      const std::int64_t too_much = reroute(walk, certificates_[c]);
      if (too_much == 0) continue;
      for (auto& [changed, flow] : before) certificates_[changed] = std::move(flow);
      // who forbids this may well forbid the next
      const auto found = certificates_.begin() + static_cast<std::ptrdiff_t>(c);
      std::rotate(certificates_.begin(), found, found + 1);
      change(walk, amount);
      return too_much;
    }
    return 0;
  }

  /// Takes what is too much off these arcs, and sends it from where they begin to where they end.
  std::int64_t reroute(const Arcs& walk, std::vector<std::int64_t>& flow) {
    Arcs lowered;
    std::vector<std::int64_t> missing;
    for (const std::uint32_t arc : walk) {
      const std::int64_t amount = flow[arc] - capacity_[arc];
      if (amount <= 0) continue;
      flow[arc] -= amount;
      excess_[graph_.arcs[arc].from] += amount;
      lowered.push_back(arc);
      missing.push_back(amount);
    }
    std::int64_t too_much = 0;
    for (std::size_t i = 0; i < lowered.size() && too_much == 0; ++i) {
      const std::uint32_t to = graph_.arcs[lowered[i]].to;
      const std::int64_t unsent =
          missing[i] - flows_.send(capacity_, flow, excess_, to, missing[i]);
      if (unsent == 0) continue;
      const std::int64_t times = entries(walk, flows_.sink_side());
      assert(times > 0); // else it had lacked something before
      too_much = (unsent + times - 1) / times;
    }
    for (const std::uint32_t arc : lowered) excess_[graph_.arcs[arc].from] = 0;
    return too_much;
  }

  const ArcGraph& graph_;
  std::vector<std::int64_t> capacity_;
  std::span<const std::int64_t> supply_;
  std::int64_t total_;
  std::span<const std::uint32_t> terminals_;
  const WorkLimit& limit_;
  std::vector<bool> is_terminal_;
  std::vector<double> costs_;
  std::vector<Walk> walks_;
  SupplyFlow flows_;
  std::vector<std::vector<std::int64_t>> certificates_; ///< [][arc]: a flow to each terminal
  std::vector<std::int64_t> excess_;                    ///< [node]: 0 but while a flow is rerouted
};

} // namespace

std::optional<RoutedNetwork> without_spare_capacity(RoutedNetwork network,
                                                    std::span<const double> weights,
                                                    std::span<const std::int64_t> supply,
                                                    std::span<const std::uint32_t> terminals,
                                                    const WorkLimit& limit) {
  const std::optional<std::vector<std::int64_t>> capacity =
      SpareCapacity(network, weights, supply, terminals, limit).run();
  if (!capacity) return std::nullopt;
  RoutedNetwork rest(network.graph.node_count());
  for (std::uint32_t arc = 0; arc < capacity->size(); ++arc) {
    const auto [from, to] = network.graph.arcs[arc];
    std::int64_t before = network.capacity[arc], left = (*capacity)[arc];
    for (CapacityRoute& route : network.routes[arc]) { // parallel links in proportion
      if (route.amount == 0) continue;
      const auto part = static_cast<std::int64_t>(int128{left} * route.amount / before);
      before -= route.amount;
      left -= part;
      route.amount = part;
      if (part > 0) rest.add(from, to, std::move(route));
    }
  }
  return rest;
}

} // namespace tutti
