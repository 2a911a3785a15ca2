// Which of several shortest paths is taken, when dimension order applies, and what is said where
// there is no path.

#include "sim/routing.hpp"

#include "sim/random.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace routing_test {

using namespace tutti;
using samples::link;

namespace {

/// The nodes that a route passes, its start included.
std::vector<std::uint32_t> stops(const Topology& topology, Router& router, std::uint32_t from,
                                 std::uint32_t to) {
  std::vector<std::uint32_t> nodes{from};
  for (const LinkId id : router.route({NodeId{from}, NodeId{to}})) {
    REQUIRE(topology.link(id).from.value == nodes.back());
    nodes.push_back(topology.link(id).to.value);
  }
  return nodes;
}

} // namespace

TEST_CASE("dimension order goes along one dimension after the other") {
  // 3 x 4 mesh, node = 4 * row + column, dimension 0 = row.
  const Topology topology = samples::mesh(3, 4);
  Router router(topology, Routing::dimension_order, Bytes{1000});
  CHECK(stops(topology, router, 1, 11) == std::vector<std::uint32_t>{1, 5, 9, 10, 11});
  CHECK(stops(topology, router, 11, 1) == std::vector<std::uint32_t>{11, 7, 3, 2, 1});
  CHECK(router.route({NodeId{5}, NodeId{5}}).empty());
}

TEST_CASE("one way for all flows: ties between shortest ones go to the least link ids") {
  const Topology topology = samples::ring(6); // links 0..5 lead forward
  Router router(topology, Routing::single, Bytes{1000});
  for (int again = 0; again < 2; ++again) {
    CHECK(stops(topology, router, 4, 1) == std::vector<std::uint32_t>{4, 5, 0, 1});
    CHECK(router.had_choice());
    CHECK(stops(topology, router, 0, 4) == std::vector<std::uint32_t>{0, 5, 4});
    CHECK_FALSE(router.had_choice());
  }
}

namespace {

/// `hosts` NPUs at each of `leaves` switches, all of which are at `spines` others; the links in the
/// order of `seed`.
Topology leaf_spine(std::uint32_t leaves, std::uint32_t hosts, std::uint32_t spines,
                    std::uint64_t seed) {
  TopologyParts parts = samples::npus("leaf and spine", leaves * hosts);
  std::vector<NodeId> leaf, spine;
  const auto add = [&](const char* name, std::uint32_t number) {
    return parts.add_node(
        {name + std::to_string(number), NodeKind::switching, {false, false, false}, {}});
  };
  for (std::uint32_t l = 0; l < leaves; ++l) leaf.push_back(add("leaf", l));
  for (std::uint32_t s = 0; s < spines; ++s) spine.push_back(add("spine", s));
  std::vector<Link> links;
  for (std::uint32_t l = 0; l < leaves; ++l) {
    for (std::uint32_t h = 0; h < hosts; ++h) links.push_back(link(l * hosts + h, leaf[l].value));
    for (const NodeId at : spine) links.push_back(link(leaf[l].value, at.value));
  }
  Random(seed).shuffle(links);
  for (const Link& each : links) parts.add_duplex(each);
  return Topology(std::move(parts));
}

/// Most flows on a link, and how many links have so many.
std::pair<std::uint32_t, std::size_t> most_flows(Router& router) {
  const std::span<const std::uint32_t> flows = router.flows();
  const std::uint32_t most = *std::ranges::max_element(flows);
  return {most, static_cast<std::size_t>(std::ranges::count(flows, most))};
}

} // namespace

TEST_CASE("flows share equally short ways evenly, however links are listed") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    // Everybody sends to everybody of the other leaves: 4 x 4 x 3 flows up from each leaf and down
    // to each, over 4 spines: 12 a link, as many as at each host.
    const Topology topology = leaf_spine(4, 4, 4, seed);
    Router router(topology, Routing::shortest, Bytes{1000});
    for (std::uint32_t from = 0; from < 16; ++from)
      for (std::uint32_t to = 0; to < 16; ++to)
        if (from / 4 != to / 4) CHECK(stops(topology, router, from, to).size() == 5);
    CHECK(most_flows(router) == std::pair<std::uint32_t, std::size_t>(12, 64));
    // Four channels of one pair, which its own links carry all.
    Router pair(topology, Routing::shortest, Bytes{1000});
    std::set<std::uint32_t> spines;
    for (std::uint32_t channel = 0; channel < 4; ++channel)
      spines.insert(topology.link(pair.route({NodeId{0}, NodeId{15}, channel})[1]).to.value);
    CHECK(spines.size() == 4);
  }
}

TEST_CASE("a way that adds no flow leaves the others as they are") {
  const Topology topology = leaf_spine(2, 2, 2, 1);
  Router router(topology, Routing::shortest, Bytes{1000});
  CHECK(router.first_route(NodeId{0}, NodeId{3}).size() == 4);
  CHECK(most_flows(router).first == 0);
}

TEST_CASE("a hash sends each flow the same way again, and another seed some another") {
  const Topology topology = leaf_spine(2, 8, 8, 1);
  const auto spines_of = [&](std::uint64_t seed) {
    Router router(topology, {Routing::ecmp_hash, seed}, Bytes{1000});
    std::vector<std::uint32_t> spines;
    for (std::uint32_t npu = 0; npu < 8; ++npu)
      spines.push_back(stops(topology, router, npu, 8 + npu)[2]);
    return spines;
  };
  std::set<std::uint32_t> seen;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    CHECK(spines_of(seed) == spines_of(seed));
    CHECK(spines_of(seed) != spines_of(seed + 1));
    for (const std::uint32_t spine : spines_of(seed)) seen.insert(spine);
  }
  CHECK(seen.size() == 8); // 64 draws: none is left out but for 1 in 600
}

TEST_CASE("by switches alone: no NPU is passed") {
  // Two rails, which only NPUs join, and a switch between two others.
  TopologyParts parts = samples::npus("rails", 2);
  for (const char* name : {"rail0", "rail1", "joined0", "joined1", "between"})
    parts.add_node({name, NodeKind::switching, {false, false, false}, {}});
  for (std::uint32_t npu = 0; npu < 2; ++npu)
    for (const std::uint32_t rail : {2U, 3U}) parts.add_duplex(link(npu, rail));
  for (const std::uint32_t rail : {4U, 5U}) parts.add_duplex(link(rail, 6));
  const Topology topology(std::move(parts));
  Router router(topology, Routing::shortest, Bytes{1000});
  CHECK_FALSE(router.route_by_switches({NodeId{2}, NodeId{3}}));
  CHECK(router.route_by_switches({NodeId{4}, NodeId{5}})->size() == 2);
  CHECK(router.route_by_switches({NodeId{0}, NodeId{2}})->size() == 1);
  CHECK(router.route({NodeId{2}, NodeId{3}}).size() == 2);
}

TEST_CASE("in a dimension of a grid switches are shared, and ways through NPUs are not") {
  // Two rings of four NPUs (dimension 0), each with its partner at two switches (dimension 1).
  TopologyParts parts = samples::npus("ring and switches", 8);
  parts.shape = {4, 2};
  for (int i = 0; i < 8; ++i) parts.coordinates.push_back({i % 4, i / 4});
  const auto add = [&](std::uint32_t from, std::uint32_t to, std::int8_t dimension) {
    Link made = link(from, to);
    made.dimension = dimension;
    parts.add_duplex(made);
  };
  for (std::uint32_t i = 0; i < 8; ++i) add(i, i / 4 * 4 + (i + 1) % 4, 0);
  for (std::uint32_t column = 0; column < 4; ++column)
    for (const char* name : {"a", "b"}) {
      const NodeId hub = parts.add_node(
          {name + std::to_string(column), NodeKind::switching, {false, false, false}, {}});
      for (const std::uint32_t npu : {column, column + 4}) add(npu, hub.value, 1);
    }
  parts.coordinates.resize(16);
  const Topology topology(std::move(parts));
  Router router(topology, Routing::automatic, Bytes{1000});
  REQUIRE(router.routing() == Routing::dimension_order);
  CHECK(stops(topology, router, 0, 4) == std::vector<std::uint32_t>{0, 8, 4});
  CHECK(stops(topology, router, 0, 4) == std::vector<std::uint32_t>{0, 9, 4});
  const std::vector<std::uint32_t> around = stops(topology, router, 0, 2);
  for (int again = 0; again < 3; ++again) CHECK(stops(topology, router, 0, 2) == around);
}

TEST_CASE("what is shortest depends on the size") {
  // 0 > 1 > 2 is fast but far, 0 > 2 near but slow.
  TopologyParts parts = samples::npus("detour", 3);
  parts.add_link({NodeId{0}, NodeId{2}, Time{1'000}, Bandwidth{1'000'000'000}, -1});
  parts.add_link({NodeId{0}, NodeId{1}, Time{10'000}, Bandwidth{100'000'000'000}, -1});
  parts.add_link({NodeId{1}, NodeId{2}, Time{10'000}, Bandwidth{100'000'000'000}, -1});
  const Topology topology(std::move(parts));
  Router small(topology, Routing::shortest, Bytes{1});
  CHECK(stops(topology, small, 0, 2) == std::vector<std::uint32_t>{0, 2});
  Router large(topology, Routing::shortest, Bytes{1'000'000});
  CHECK(stops(topology, large, 0, 2) == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("automatic routing takes dimension order only where every line is whole") {
  const Topology mesh = samples::mesh(3, 3);
  CHECK(Router(mesh, Routing::automatic, Bytes{1}).routing() == Routing::dimension_order);
  const Topology holed = samples::mesh_without_a_link(3, 3);
  CHECK(Router(holed, Routing::automatic, Bytes{1}).routing() == Routing::single);
  const std::vector<NodeId> centre{NodeId{4}};
  CHECK(Router(without(mesh, centre, {}), Routing::automatic, Bytes{1}).routing() ==
        Routing::single);
  CHECK(Router(samples::ring(5), Routing::automatic, Bytes{1}).routing() == Routing::shortest);
  CHECK(to_text(Routing::dimension_order) == "dimension-order");
  CHECK(parse_routing("shortest") == Routing::shortest);
}

TEST_CASE("dimension order through the switches of a dimension") {
  // 2 x 2: rows joined by a switch each (dimension 0), columns by direct links (dimension 1).
  TopologyParts parts = samples::npus("switched", 4);
  parts.shape = {2, 2};
  parts.coordinates = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
  for (std::uint32_t row = 0; row < 2; ++row) {
    const NodeId hub = parts.add_node(
        {"row" + std::to_string(row), NodeKind::switching, {false, false, false}, {}});
    for (std::uint32_t i = 0; i < 2; ++i) {
      Link up = link(2 * row + i, hub.value);
      up.dimension = 0;
      parts.add_duplex(up);
    }
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    Link down = link(i, 2 + i);
    down.dimension = 1;
    parts.add_duplex(down);
  }
  const Topology topology(std::move(parts));
  Router router(topology, Routing::automatic, Bytes{1});
  CHECK(router.routing() == Routing::dimension_order);
  CHECK(stops(topology, router, 0, 3) == std::vector<std::uint32_t>{0, 4, 1, 3});
}

TEST_CASE("what can't be routed is said in words") {
  const Topology ring = samples::ring(4);
  CHECK(message_of([&] { (void)Router(ring, Routing::dimension_order, Bytes{1}); }) ==
        "ring4 has no coordinates: no dimension-order routing");
  CHECK(message_of([] { (void)parse_routing("fastest"); }) ==
        "unknown routing \"fastest\" (known: auto, shortest, single, ecmp-hash, "
        "dimension-order)");
  CHECK(message_of([] { (void)parse_routing("single,seed=3"); }) ==
        "routing \"single,seed=3\": only ecmp-hash takes more, its seed (ecmp-hash,seed=3)");
  CHECK_THAT(message_of([] { (void)parse_routing("ecmp-hash,seed=x"); }),
             Catch::StartsWith("seed of ecmp-hash"));
  CHECK(to_text(parse_routing("ecmp-hash,seed=3")) == "ecmp-hash,seed=3");
  CHECK(parse_routing("ecmp-hash") == Routing(Routing::ecmp_hash, 0));
  TopologyParts parts = samples::npus("one way", 3);
  parts.add_link(link(0, 1));
  parts.add_link(link(1, 2));
  const Topology line(std::move(parts));
  Router router(line, Routing::shortest, Bytes{1});
  CHECK(message_of([&] {
          (void)router.route({NodeId{2}, NodeId{0}});
        }) == "one way: npu0 can't be reached from npu2");
}

} // namespace routing_test
