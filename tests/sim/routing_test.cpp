// Which of several shortest paths is taken, when dimension order applies, and what is said where
// there is no path.

#include "sim/routing.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

#include <vector>

namespace routing_test {

using namespace tutti;
using samples::link;

namespace {

/// The nodes that a route passes, its start included.
std::vector<std::uint32_t> stops(const Topology& topology, Router& router, std::uint32_t from,
                                 std::uint32_t to) {
  std::vector<std::uint32_t> nodes{from};
  for (const LinkId id : router.route(NodeId{from}, NodeId{to})) {
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
  CHECK(router.route(NodeId{5}, NodeId{5}).empty());
}

TEST_CASE("ties between shortest ways go to the least link ids") {
  const Topology topology = samples::ring(6); // links 0..5 lead forward
  Router router(topology, Routing::shortest, Bytes{1000});
  CHECK(stops(topology, router, 4, 1) == std::vector<std::uint32_t>{4, 5, 0, 1});
  CHECK(stops(topology, router, 0, 4) == std::vector<std::uint32_t>{0, 5, 4});
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
  CHECK(Router(holed, Routing::automatic, Bytes{1}).routing() == Routing::shortest);
  const std::vector<NodeId> centre{NodeId{4}};
  CHECK(Router(without(mesh, centre, {}), Routing::automatic, Bytes{1}).routing() ==
        Routing::shortest);
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
        "unknown routing \"fastest\" (known: auto, shortest, dimension-order)");
  TopologyParts parts = samples::npus("one way", 3);
  parts.add_link(link(0, 1));
  parts.add_link(link(1, 2));
  const Topology line(std::move(parts));
  Router router(line, Routing::shortest, Bytes{1});
  CHECK(message_of([&] { (void)router.route(NodeId{2}, NodeId{0}); }) ==
        "one way: npu0 can't be reached from npu2");
}

} // namespace routing_test
