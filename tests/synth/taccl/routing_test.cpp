// Routing against all routings there are, on networks small enough to list them.
#include "synth/taccl/routing.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "tests/synth/taccl/exhaustive_routes.hpp"
#include "tests/synth/taccl/machines.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace routing_test {

using namespace tutti;
using samples::for_each_routing;
using samples::random_network;

namespace {

constexpr TimeModel busy_latency{.link_busy = LinkBusy::latency_and_serialization};

/// The time of a routing, from the paper's equations and the network itself: eq. 2 to 8.
std::int64_t time_of(const Topology& network, Bytes size,
                     const std::vector<std::vector<LinkId>>& trees) {
  std::map<LinkId, std::int64_t> link_loads;
  std::map<std::uint32_t, std::int64_t> group_loads;
  std::int64_t longest = 0;
  for (const auto& tree : trees) {
    std::map<NodeId, std::int64_t> start;
    for (const LinkId link : tree) {
      const Link& on = network.link(link);
      const std::int64_t lat =
          on.latency.ps + serialization(size, network.effective_bandwidth(link)).ps;
      longest = std::max(longest, start[on.to] = start[on.from] + lat);
      longest = std::max(longest, link_loads[link] += lat);
      for (const std::uint32_t group : network.groups_of(link))
        longest = std::max(longest, group_loads[group] +=
                                    serialization(size, network.groups()[group].bandwidth).ps);
    }
  }
  return longest;
}

std::int64_t least_all_gather(const Topology& network, Bytes size) {
  std::int64_t least = INT64_MAX;
  for_each_routing(network, [&](const std::vector<std::vector<LinkId>>& trees) {
    least = std::min(least, time_of(network, size, trees));
  });
  return least;
}

struct Routed {
  LogicalTopology logical;
  Collective collective;
  RoutingSymmetry symmetry;
  RoutingOutcome outcome;
};

Routed routed(const Topology& network, const std::string& toml, CollectiveKind kind, Bytes size,
              std::uint32_t chunks = 1, double slack = 0) {
  Routed made{logical_topology(network, parse_sketch(toml, "s")),
              make_collective(network, {kind, size, {}, 0, chunks}),
              {},
              {}};
  made.symmetry = routing_symmetry(made.logical, made.collective, "broadcast");
  const RoutingProblem problem{&made.logical, &made.collective, busy_latency, {}, slack};
  made.outcome = route(problem, made.symmetry, 1, {});
  return made;
}

std::uint32_t switched_connections(const Routed& made) {
  std::set<LinkId> used;
  for (const auto& tree : made.outcome.routes->trees) used.insert(tree.begin(), tree.end());
  return static_cast<std::uint32_t>(used.size());
}

std::string inside(const std::string& policy) {
  return "[[inside.switches]]\nnpus = [0, 1, 2, 3]\npolicy = \"" + policy + "\"\n";
}

} // namespace

TEST_CASE("taccl routing: the optimum is that of all routings") {
  unsigned proven = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::uint32_t npus = seed < 40 ? 3 : 4;
    const Topology network = random_network(seed, npus);
    for (const Bytes size : {Bytes{1'000}, Bytes{100'000}}) {
      INFO("seed " << seed << ", " << size.count << " bytes");
      const Routed made = routed(network, "", CollectiveKind::all_gather, Bytes{size.count * npus});
      REQUIRE(made.outcome.routes);
      const std::int64_t least = least_all_gather(network, size);
      CHECK(made.outcome.routes->time.ps == least);
      CHECK(made.outcome.routes->at_least.ps <= least);
      CHECK(time_of(network, size, made.outcome.routes->trees) == made.outcome.routes->time.ps);
      proven += made.outcome.routes->at_least == made.outcome.routes->time ? 1 : 0;
    }
  }
  CHECK(proven >= 110); // of 120: the rest is cut short
}

TEST_CASE("taccl routing: policies of hyperedges, for a hundredth of the time") {
  const Topology network = make_topology("switch:4,bandwidth=25GB/s,latency=1us");
  std::map<std::string, Routed> made;
  for (const std::string policy : {"uc-max", "uc-min", "freeconn"})
    made.emplace(policy,
                 routed(network, inside(policy), CollectiveKind::all_gather, Bytes{400'000'000}));
  const Time time = made.at("freeconn").outcome.routes->time;
  for (const auto& [policy, routes] : made) {
    INFO(policy);
    CHECK(routes.outcome.routes->time.ps * 100 <= time.ps * 101);
    CHECK(routes.outcome.routes->connections == switched_connections(routes));
  }
  CHECK(made.at("uc-max").outcome.routes->connections == 12); // all there are
  CHECK(made.at("uc-min").outcome.routes->connections == 4);  // a ring
  // Of tiny data longer paths cost time: connections stay.
  const Routed tiny = routed(network, inside("uc-min"), CollectiveKind::all_gather, Bytes{400});
  CHECK(tiny.outcome.routes->time <= Time{3 * 2'100'000});
}

TEST_CASE("taccl routing: symmetric chunks have symmetric trees") {
  const Topology network = samples::four_npu_machines(2);
  const Routed made = routed(network,
                             "machines = 2\nsymmetry = [[2, 4], [4, 8]]\n" + inside("uc-min") +
                                 "[between]\nconnections = { 1 = [0], 3 = [2] }\n",
                             CollectiveKind::all_gather, Bytes{80'000}, 2);
  REQUIRE(made.outcome.routes);
  CHECK(made.symmetry.links.size() == 4);
  CHECK(made.symmetry.chosen.size() == 4); // 16 chunks
  const auto ends = [&](ChunkId chunk, const Permutation& permutation) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> sent;
    for (const LinkId link : made.outcome.routes->trees[chunk.value])
      sent.emplace(permutation[made.logical.topology.link(link).from.value],
                   permutation[made.logical.topology.link(link).to.value]);
    return sent;
  };
  const Permutation identity{0, 1, 2, 3, 4, 5, 6, 7};
  for (std::uint32_t c = 0; c < 16; ++c)
    for (const Permutation& rotation : made.logical.symmetry) {
      const ChunkId image{2 * rotation[c / 2] + c % 2};
      CHECK(ends(ChunkId{c}, rotation) == ends(image, identity));
    }
}

TEST_CASE("taccl routing: a collective without the sketch's symmetry is refused") {
  CHECK(message_of([] {
          (void)routed(make_topology("switch:4"), "symmetry = [[1, 4]]\n" + inside("uc-max"),
                       CollectiveKind::broadcast, Bytes{1000});
        }) == "s:1:13: broadcast isn't symmetric by 1 in groups of 4: chunk 0 from npu0 has no "
              "image");
  // Where symmetry is found, it is left out.
  const Routed made = routed(make_topology("switch:4"), "symmetry = \"auto\"\n" + inside("uc-max"),
                             CollectiveKind::broadcast, Bytes{1000});
  CHECK(made.symmetry.links.size() == 1);
}

TEST_CASE("taccl routing: paths are the shortest, and longer where slack allows it") {
  // 0 -> 2 directly at 5 GB/s, or through 1 at 10 GB/s each: as long but for the latency.
  TopologyParts parts = samples::npus("triangle", 3);
  for (std::uint32_t n = 0; n < 3; ++n)
    parts.add_duplex({NodeId{n}, NodeId{(n + 1) % 3}, Time{100'000},
                      Bandwidth{n == 2 ? 5'000'000'000 : 10'000'000'000}});
  const Topology network(std::move(parts));
  const auto longest = [&](double slack) {
    const Routed made = routed(network, "", CollectiveKind::scatter, Bytes{30'000'000}, 4, slack);
    std::size_t hops = 0;
    for (const auto& tree : made.outcome.routes->trees) hops = std::max(hops, tree.size());
    return hops;
  };
  CHECK(longest(0) == 1);
  CHECK(longest(0.1) == 2);
}

TEST_CASE("taccl routing: the bound counts whole chunks") {
  // 12 chunks into each NPU over three links of 40 ps a byte: four each.
  const Topology network = samples::full(4);
  const Routed made = routed(network, "", CollectiveKind::all_gather, Bytes{160'000}, 4);
  REQUIRE(made.outcome.routes);
  CHECK(made.outcome.routes->at_least == Time{4 * (500'000 + 10'000 * 20)});
  CHECK(made.outcome.routes->time == made.outcome.routes->at_least);
}

TEST_CASE("taccl routing: what can't be reached is named") {
  const Topology network = samples::ring(4, true);
  const Routed made = routed(network, "[inside]\nlinks = [[0, 1], [1, 2], [2, 3]]",
                             CollectiveKind::all_gather, Bytes{4000});
  CHECK_FALSE(made.outcome.routes);
  CHECK(made.outcome.why_not == "under the sketch nothing gets from npu1 to npu0");
}

} // namespace routing_test
