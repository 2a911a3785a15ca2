// Splitting and packing on random networks, checked by brute force over all cuts.
#include "synth/flows/packing/edge_splitting.hpp"

#include "synth/flows/packing/exact_throughput.hpp"
#include "synth/flows/packing/spanning_trees.hpp"
#include "synth/flows/packing/spare_capacity.hpp"
#include "tests/catch.hpp"
#include "tests/synth/flows/random_switched.hpp"

#include <algorithm>
#include <set>

namespace edge_splitting_test {

using namespace tutti;
using samples::capacity_out;
using samples::random_switched;
using samples::sum_in;
using samples::SwitchedNetwork;

namespace {

/// A network in which every terminal can just get all supplies at once.
struct Loaded {
  SwitchedNetwork network; ///< with enough capacity
  std::vector<std::int64_t> supply;
};

Loaded random_loaded(Random& random) {
  Loaded loaded{random_switched(random), {}};
  loaded.supply.resize(loaded.network.graph.node_count());
  for (const std::uint32_t t : loaded.network.terminals)
    loaded.supply[t] = static_cast<std::int64_t>(random.below(3));
  loaded.supply[random.below(loaded.network.terminals.size())] = 1;
  const Ratio time = slowest_cut(loaded.network.graph, loaded.network.capacity, loaded.supply,
                                 loaded.network.terminals)
                         .value()
                         .time;
  for (std::int64_t& supply : loaded.supply) supply *= time.denominator();
  for (std::int64_t& capacity : loaded.network.capacity) capacity *= time.numerator();
  return loaded;
}

RoutedNetwork routed(const SwitchedNetwork& network) {
  RoutedNetwork result(network.graph.node_count());
  for (std::uint32_t a = 0; a < network.capacity.size(); ++a)
    result.add(network.graph.arcs[a].from, network.graph.arcs[a].to, {network.capacity[a], {a}});
  return result;
}

/// Routes go from end to end over switches, and use no more of anything than there is.
void check_routes(const SwitchedNetwork& network, const RoutedNetwork& split) {
  std::vector<std::int64_t> load(network.capacity.size());
  for (std::size_t arc = 0; arc < split.capacity.size(); ++arc) {
    std::int64_t amount = 0;
    for (const CapacityRoute& route : split.routes[arc]) {
      amount += route.amount;
      std::uint32_t at = split.graph.arcs[arc].from;
      for (std::size_t i = 0; i < route.links.size(); ++i) {
        const auto [from, to] = network.graph.arcs[route.links[i]];
        CHECK(from == at);
        CHECK((i == 0 || from >= network.terminals.size()));
        load[route.links[i]] += route.amount;
        at = to;
      }
      CHECK(at == split.graph.arcs[arc].to);
    }
    CHECK(amount == split.capacity[arc]);
  }
  for (std::size_t a = 0; a < load.size(); ++a) CHECK(load[a] <= network.capacity[a]);
}

void check_trees(const RoutedNetwork& split, const Loaded& loaded,
                 const std::vector<SpanningTrees>& packed) {
  std::vector<std::int64_t> load(split.capacity.size()), roots(loaded.supply.size());
  for (const SpanningTrees& trees : packed) {
    CHECK(trees.count > 0);
    roots[trees.root] += trees.count;
    std::set<std::uint32_t> has{trees.root};
    for (const std::uint32_t arc : trees.arcs) {
      load[arc] += trees.count;
      CHECK(has.contains(split.graph.arcs[arc].from));
      CHECK(has.insert(split.graph.arcs[arc].to).second);
    }
    CHECK(has.size() == loaded.network.terminals.size());
  }
  CHECK(roots == loaded.supply);
  for (std::size_t arc = 0; arc < load.size(); ++arc) CHECK(load[arc] <= split.capacity[arc]);
}

} // namespace

TEST_CASE("switches are split off at no loss, and trees fill what is left") {
  const SynthesisOptions options;
  const WorkLimit limit(options);
  Random random(3);
  for (int round = 0; round < 3000; ++round) {
    const Loaded loaded = random_loaded(random);
    const SwitchedNetwork& network = loaded.network;
    const auto split = without_switches(routed(network), loaded.supply, network.terminals, limit);
    REQUIRE(split);
    for (const auto& [from, to] : split->graph.arcs)
      CHECK((from < network.terminals.size() && to < network.terminals.size() && from != to));
    check_routes(network, *split);
    const std::uint32_t all = (1U << network.terminals.size()) - 1;
    for (std::uint32_t set = 0; set < all; ++set)
      CHECK(capacity_out(split->graph, split->capacity, set) >= sum_in(loaded.supply, set));

    const auto trees =
        pack_spanning_trees(split->graph, split->capacity, loaded.supply, network.terminals, limit);
    REQUIRE(trees);
    check_trees(*split, loaded, *trees);
  }
}

TEST_CASE("spare capacity goes where it costs, and no terminal misses it") {
  const SynthesisOptions options;
  const WorkLimit limit(options);
  Random random(12);
  for (int round = 0; round < 1000; ++round) {
    const Loaded loaded = random_loaded(random);
    const SwitchedNetwork& network = loaded.network;
    std::vector<double> weights;
    double before = 0, after = 0;
    for (std::size_t a = 0; a < network.capacity.size(); ++a) { // parallel links alike
      const auto [from, to] = network.graph.arcs[a];
      weights.push_back((from + 2 * to) % 3);
      before += weights.back() * static_cast<double>(network.capacity[a]);
    }
    const auto rest =
        without_spare_capacity(routed(network), weights, loaded.supply, network.terminals, limit);
    REQUIRE(rest);
    check_routes(network, *rest);
    for (const std::vector<CapacityRoute>& routes : rest->routes)
      for (const CapacityRoute& route : routes)
        after += weights[route.links.front()] * static_cast<double>(route.amount);
    CHECK(after <= before);
    const std::uint32_t nodes = network.graph.node_count(), all = 1U << nodes;
    for (std::uint32_t node = static_cast<std::uint32_t>(network.terminals.size()); node < nodes;
         ++node) {
      std::int64_t in = 0, out = 0;
      for (const std::uint32_t arc : rest->graph.in[node]) in += rest->capacity[arc];
      for (const std::uint32_t arc : rest->graph.out[node]) out += rest->capacity[arc];
      CHECK(in == out);
    }
    const std::uint32_t terminals = (1U << network.terminals.size()) - 1;
    for (std::uint32_t set = 0; set < all; ++set)
      if ((set & terminals) != terminals)
        CHECK(capacity_out(rest->graph, rest->capacity, set) >= sum_in(loaded.supply, set));
  }
}

TEST_CASE("trees by the million are as few different ones as trees by the dozen") {
  const SynthesisOptions options;
  const WorkLimit limit(options);
  Random random(8);
  for (int round = 0; round < 20; ++round) {
    const Loaded loaded = random_loaded(random);
    const auto pack = [&](std::int64_t factor) {
      Loaded larger = loaded;
      for (std::int64_t& supply : larger.supply) supply *= factor;
      for (std::int64_t& capacity : larger.network.capacity) capacity *= factor;
      const auto split =
          without_switches(routed(larger.network), larger.supply, larger.network.terminals, limit);
      return pack_spanning_trees(split.value().graph, split.value().capacity, larger.supply,
                                 larger.network.terminals, limit)
          .value();
    };
    const std::vector<SpanningTrees> few = pack(1), many = pack(10'000'019);
    REQUIRE(few.size() == many.size());
    for (std::size_t i = 0; i < few.size(); ++i) {
      CHECK(many[i].count == few[i].count * 10'000'019);
      CHECK(many[i].arcs == few[i].arcs);
    }
  }
}

} // namespace edge_splitting_test
