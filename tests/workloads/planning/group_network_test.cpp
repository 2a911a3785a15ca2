// The part of a network in which a group plans: whom it holds, and where it must be the whole.
#include "workloads/planning/group_network.hpp"

#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/workloads/planning/workload_samples.hpp"
#include "topologies/list.hpp"
#include "workloads/planning/planning.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace group_network_test {

using namespace tutti;
using namespace tutti::samples;

namespace {

/// The members come first, and links and nodes say where everything is from.
void check_maps(const Topology& topology, const std::vector<NodeId>& group,
                const GroupNetwork& part) {
  REQUIRE(part.topology.npu_count() == group.size());
  REQUIRE(part.nodes.size() == part.topology.node_count());
  REQUIRE(part.links.size() == part.topology.link_count());
  CHECK(std::equal(group.begin(), group.end(), part.nodes.begin()));
  for (std::uint32_t n = 0; n < part.nodes.size(); ++n) {
    const Node& here = part.topology.node(NodeId{n});
    const Node& there = topology.node(part.nodes[n]);
    CHECK(here.name == there.name);
    CHECK(here.can == there.can);
  }
  for (std::uint32_t l = 0; l < part.links.size(); ++l) {
    const Link& here = part.topology.link(LinkId{l});
    const Link& there = topology.link(part.links[l]);
    CHECK(part.nodes[here.from.value] == there.from);
    CHECK(part.nodes[here.to.value] == there.to);
    CHECK(here.latency == there.latency);
    CHECK(here.bandwidth == there.bandwidth);
  }
  const std::set<LinkId> distinct(part.links.begin(), part.links.end());
  CHECK(distinct.size() == part.links.size());
}

} // namespace

TEST_CASE("a group's network: a server's switch, and no rails that end nowhere") {
  const Topology topology = make_topology("two_level_switch:4x3");
  const std::vector<NodeId> group = nodes({4, 5, 6, 7});
  const GroupNetwork part = network_of(topology, group);
  check_maps(topology, group, part);
  CHECK(part.topology.node_count() == 5); // four NPUs and their box's switch
  CHECK(part.topology.link_count() == 8);
}

TEST_CASE("a group's network: memory beside the switch, but no other server's") {
  const Topology topology = make_topology("dgx_a100_rail:3");
  const std::vector<NodeId> server = nodes({8, 9, 10, 11, 12, 13, 14, 15});
  const GroupNetwork part = network_of(topology, server);
  check_maps(topology, server, part);
  CHECK(part.topology.node_count() == 14); // NPUs, NVSwitch, four PCIe switches, memory
  CHECK(part.topology.link_count() == 2 * (8 + 8 + 4));

  const std::vector<NodeId> rail = nodes({1, 9, 17});
  const GroupNetwork across = network_of(topology, rail);
  check_maps(topology, rail, across);
  // One PCIe switch in each server, and the two rails that it is on.
  CHECK(across.topology.node_count() == 3 + 3 + 2);
  CHECK(across.topology.link_count() == 2 * (3 + 6));
}

TEST_CASE("a group's network: ranks keep their order, whatever the ids") {
  const Topology topology = make_topology("switch:6");
  const std::vector<NodeId> group = nodes({5, 0, 3});
  const GroupNetwork part = network_of(topology, group);
  check_maps(topology, group, part);
  CHECK(part.topology.link_count() == 6);
}

TEST_CASE("a group's network: every other row of a torus is a ring with its coordinates") {
  const Topology topology = make_topology("torus2d:4x4");
  const std::vector<NodeId> column = nodes({1, 5, 9, 13});
  const GroupNetwork part = network_of(topology, column);
  check_maps(topology, column, part);
  CHECK(part.topology.link_count() == 8);
  REQUIRE(part.topology.shape().size() == 1);
  CHECK(part.topology.shape()[0] == 4);
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    CHECK(part.topology.coordinate(NodeId{rank})[0] == static_cast<int>(rank));
  for (const Link& link : part.topology.links()) CHECK(link.dimension == 0);
}

TEST_CASE("a group's network: coordinates only where the members fill a grid") {
  const Topology topology = make_topology("torus2d:4x4");
  const GroupNetwork square = network_of(topology, nodes({0, 1, 4, 5}));
  REQUIRE(square.topology.shape().size() == 2);
  CHECK(square.topology.shape()[0] == 2);
  CHECK(square.topology.shape()[1] == 2);
  CHECK(network_of(topology, nodes({0, 1, 4})).topology.shape().empty());
}

TEST_CASE("a group's network: the whole one where members don't reach each other, or are all") {
  const Topology torus = make_topology("torus2d:4x4");
  for (const std::vector<NodeId>& group :
       {nodes({0, 5}), nodes({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})}) {
    const GroupNetwork whole = network_of(torus, group);
    CHECK(whole.topology.fingerprint() == torus.fingerprint());
    REQUIRE(whole.nodes.size() == 16);
    CHECK(whole.nodes[7] == NodeId{7});
    REQUIRE(whole.links.size() == 64);
    CHECK(whole.links[63] == LinkId{63});
  }
}

TEST_CASE("a group's network: what links share, as far as they are there") {
  TopologyParts parts = npus("bus", 4);
  parts.add_duplex(link(0, 1));
  parts.add_duplex(link(1, 2));
  parts.add_duplex(link(2, 3));
  parts.groups.push_back({"left", {LinkId{0}, LinkId{1}}, Bandwidth{1'000}});
  parts.groups.push_back({"middle", {LinkId{1}, LinkId{2}}, Bandwidth{2'000}});
  parts.groups.push_back({"right", {LinkId{4}, LinkId{5}}, Bandwidth{3'000}});
  const Topology topology(std::move(parts));
  const GroupNetwork part = network_of(topology, nodes({0, 1}));
  REQUIRE(part.topology.groups().size() == 2);
  for (const SharedGroup& group : part.topology.groups()) {
    std::vector<LinkId> original;
    for (const LinkId id : group.links) original.push_back(part.links[id.value]);
    if (group.name == "left")
      CHECK(original == std::vector{LinkId{0}, LinkId{1}});
    else
      CHECK(original == std::vector{LinkId{1}});
    CHECK(group.bandwidth == Bandwidth{group.name == "left" ? 1'000 : 2'000});
  }
}

TEST_CASE("a group's network: one-way links count in their direction only") {
  const Topology topology = samples::ring(4, true);
  // From npu0 to npu1 there is a link, but the way back leads through strangers.
  CHECK(network_of(topology, nodes({0, 1})).topology.npu_count() == 4);
}

} // namespace group_network_test
