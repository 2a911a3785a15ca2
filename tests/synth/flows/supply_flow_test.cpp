#include "synth/flows/packing/supply_flow.hpp"

#include "synth/flows/packing/exact_throughput.hpp"
#include "tests/catch.hpp"
#include "tests/synth/flows/random_switched.hpp"

#include <algorithm>
#include <optional>

namespace supply_flow_test {

using namespace tutti;
using samples::capacity_out;
using samples::random_switched;
using samples::sum_in;
using samples::SwitchedNetwork;

namespace {

constexpr std::int64_t unlimited = std::int64_t{1} << 40;

/// The least over all sets without the sink: the supplies outside of it, and what gets out of it.
std::int64_t least_cut(const SwitchedNetwork& network, const std::vector<std::int64_t>& supply,
                       std::uint32_t sink) {
  const std::uint32_t sets = 1U << network.graph.node_count();
  std::int64_t least = unlimited * 8;
  for (std::uint32_t set = 0; set < sets; ++set)
    if ((set >> sink & 1) == 0)
      least = std::min(least, sum_in(supply, (sets - 1) & ~set) +
                                  capacity_out(network.graph, network.capacity, set));
  return least;
}

void check_flow(const SwitchedNetwork& network, const std::vector<std::int64_t>& supply,
                const std::vector<std::int64_t>& left, const std::vector<std::int64_t>& flow,
                std::uint32_t sink, std::int64_t sent) {
  std::vector<std::int64_t> balance(supply.size());
  for (std::size_t node = 0; node < supply.size(); ++node)
    balance[node] = supply[node] - left[node];
  for (std::size_t a = 0; a < flow.size(); ++a) {
    CHECK((flow[a] >= 0 && flow[a] <= network.capacity[a]));
    balance[network.graph.arcs[a].from] -= flow[a];
    balance[network.graph.arcs[a].to] += flow[a];
  }
  balance[sink] -= sent;
  CHECK(std::ranges::all_of(balance, [](std::int64_t amount) { return amount == 0; }));
  CHECK(std::ranges::all_of(left, [](std::int64_t amount) { return amount >= 0; }));
}

} // namespace

TEST_CASE("flows of supplies are as large as the least cut") {
  Random random(11);
  for (int round = 0; round < 1000; ++round) {
    const SwitchedNetwork network = random_switched(random);
    const std::uint32_t nodes = network.graph.node_count();
    std::vector<std::int64_t> supply(nodes);
    for (std::int64_t& amount : supply)
      amount = random.below(3) == 0 ? static_cast<std::int64_t>(random.below(20)) : 0;
    const auto sink = static_cast<std::uint32_t>(random.below(nodes));
    SupplyFlow flows(network.graph);
    std::vector<std::int64_t> left = supply, flow(network.capacity.size());
    const std::int64_t sent = flows.send(network.capacity, flow, left, sink, unlimited);
    CHECK(sent == least_cut(network, supply, sink));
    check_flow(network, supply, left, flow, sink, sent);

    const std::vector<bool> side = flows.sink_side(); // a least cut
    std::uint32_t outside = 0;
    for (std::uint32_t node = 0; node < nodes; ++node) outside |= (side[node] ? 0U : 1U) << node;
    CHECK(sum_in(supply, ((1U << nodes) - 1) & ~outside) +
              capacity_out(network.graph, network.capacity, outside) ==
          sent);
    if (sent == 0) continue;

    // in two goes, the second one from where the first has ended
    left = supply;
    std::ranges::fill(flow, 0);
    const std::int64_t first = flows.send(network.capacity, flow, left, sink, sent / 2);
    CHECK(first == sent / 2);
    const std::int64_t second = flows.send(network.capacity, flow, left, sink, unlimited);
    CHECK(first + second == sent);
    check_flow(network, supply, left, flow, sink, sent);
  }
}

TEST_CASE("the slowest cut is the slowest of all cuts") {
  Random random(5);
  for (int round = 0; round < 1000; ++round) {
    const SwitchedNetwork network = random_switched(random);
    const std::uint32_t nodes = network.graph.node_count();
    std::vector<std::int64_t> weight(nodes);
    for (const std::uint32_t t : network.terminals)
      weight[t] = static_cast<std::int64_t>(round % 2 == 0 ? 1 : random.below(4));
    weight[0] = 1;
    Ratio slowest;
    const std::uint32_t all = (1U << network.terminals.size()) - 1;
    for (std::uint32_t set = 1; set < 1U << nodes; ++set)
      if ((set & all) != all && sum_in(weight, set) > 0)
        slowest = std::max(slowest, Ratio(sum_in(weight, set),
                                          capacity_out(network.graph, network.capacity, set)));
    const std::optional<SlowestCut> cut =
        slowest_cut(network.graph, network.capacity, weight, network.terminals);
    REQUIRE(cut);
    CHECK(cut->time == slowest);
    std::uint32_t inside = 0;
    for (std::uint32_t node = 0; node < nodes; ++node)
      inside |= (cut->inside[node] ? 1U : 0U) << node;
    CHECK((inside & all) != all);
    CHECK(Ratio(sum_in(weight, inside), capacity_out(network.graph, network.capacity, inside)) ==
          slowest);
  }
}

TEST_CASE("no cut is slowest where there is no path at all") {
  ArcGraph graph(3);
  graph.add_arc(0, 1);
  const std::vector<std::int64_t> bandwidth{5}, weight{1, 0, 0};
  const std::vector<std::uint32_t> near{0, 1}, far{0, 1, 2};
  REQUIRE(slowest_cut(graph, bandwidth, weight, near));
  CHECK(slowest_cut(graph, bandwidth, weight, near)->time == Ratio(1, 5));
  CHECK_FALSE(slowest_cut(graph, bandwidth, weight, far));
}

} // namespace supply_flow_test
