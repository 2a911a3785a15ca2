// Adjacency, shared groups, reversal, and the invariants that a topology is checked for.

#include "sim/topology.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

#include <vector>

namespace topology_test {

using namespace tutti;
using samples::link;

namespace {

std::string refusal(const TopologyParts& parts) {
  return message_of([&] { (void)Topology(parts); });
}

} // namespace

TEST_CASE("adjacency follows the links") {
  const Topology topology = samples::star(3);
  CHECK(topology.npu_count() == 3);
  CHECK(topology.node_count() == 4);
  CHECK(topology.link_count() == 6);
  const NodeId hub = topology.find_node("hub");
  CHECK(topology.out_links(hub).size() == 3);
  for (const LinkId id : topology.in_links(hub)) CHECK(topology.link(id).to == hub);
  CHECK(topology.groups_of(LinkId{0}).empty());
}

TEST_CASE("groups limit their links") {
  TopologyParts parts = samples::npus("groups", 2);
  parts.add_duplex(link(0, 1));
  parts.groups.push_back({"bus", {LinkId{0}, LinkId{1}}, {30'000'000'000}});
  parts.groups.push_back({"port", {LinkId{1}}, {10'000'000'000}});
  const Topology topology(parts);
  CHECK(topology.effective_bandwidth(LinkId{0}) == Bandwidth{30'000'000'000});
  CHECK(topology.effective_bandwidth(LinkId{1}) == Bandwidth{10'000'000'000});
  CHECK(topology.groups_of(LinkId{1}).size() == 2);
  CHECK(topology.groups_of(LinkId{1})[1] == 1);
}

TEST_CASE("a malformed topology is refused in words") {
  TopologyParts good = samples::npus("bad", 2);
  good.add_duplex(link(0, 1));
  CHECK(refusal(good).empty());

  TopologyParts parts = good;
  parts.links[1].to = NodeId{9};
  CHECK(refusal(parts) == "link 1 ends at node 9, which isn't there (2 nodes)");
  parts = good;
  parts.links[0].to = NodeId{0};
  CHECK(refusal(parts) == "link 0 (npu0 > npu0) leads back to its own node");
  parts = good;
  parts.links[0].bandwidth = {0};
  CHECK(refusal(parts) == "link 0 (npu0 > npu1) has no positive bandwidth");
  parts = good;
  parts.links[0].latency = {-1};
  CHECK(refusal(parts) == "link 0 (npu0 > npu1) has a negative latency");
  parts = good;
  parts.nodes[1].name = "npu0";
  CHECK(refusal(parts) == "node \"npu0\" is named twice");
  parts = good;
  parts.nodes[0].kind = NodeKind::switching;
  CHECK(refusal(parts) == "NPU \"npu1\" comes after a switch or memory");
  parts = good;
  parts.nodes[0].reduce_rate = {-5};
  CHECK(refusal(parts) == "node \"npu0\": reduction rate is negative");
  parts = good;
  parts.groups.push_back({"bus", {}, {1}});
  CHECK(refusal(parts) == "group \"bus\" has no links");
  parts.groups[0] = {"bus", {LinkId{7}}, {1}};
  CHECK(refusal(parts) == "group \"bus\" has link 7, which isn't there");
  parts.groups[0] = {"bus", {LinkId{1}, LinkId{1}}, {1}};
  CHECK(refusal(parts) == "group \"bus\" has link 1 twice");
  parts.groups[0] = {"bus", {LinkId{1}}, {0}};
  CHECK(refusal(parts) == "group \"bus\" has no positive bandwidth");
  parts = good;
  parts.shape = {2};
  parts.coordinates = {{0}};
  CHECK(refusal(parts) == "NPU \"npu1\" has no coordinates");
  parts.coordinates = {{0}, {2}};
  CHECK(refusal(parts) == "node \"npu1\" has coordinates (2) outside the shape 2");
  parts.coordinates = {{1}, {1}};
  CHECK(refusal(parts) == "NPUs \"npu0\" and \"npu1\" both have coordinates (1)");
  parts.coordinates = {{0}, {1}, {0}};
  CHECK(refusal(parts) == "there are coordinates for 3 nodes, but only 2 nodes");
  CHECK(refusal(TopologyParts{}) == "a topology needs at least one node");
  CHECK(message_of([&] { (void)Topology(good).find_node("npu7"); }) ==
        "unknown node \"npu7\" (known: npu0, npu1; did you mean \"npu0\"?)");
}

TEST_CASE("reversing turns every link around and keeps its id") {
  const Topology topology = samples::uneven_mesh(2, 3);
  const Topology back = reversed(topology);
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    CHECK(back.link(LinkId{l}).from == topology.link(LinkId{l}).to);
    CHECK(back.link(LinkId{l}).latency == topology.link(LinkId{l}).latency);
  }
  CHECK(reversed(back).fingerprint() == topology.fingerprint());
}

TEST_CASE("without nodes and links") {
  TopologyParts parts = samples::mesh_parts(3, 3);
  parts.groups.push_back({"pair", {LinkId{0}, LinkId{20}}, samples::bandwidth});
  parts.groups.push_back({"gone", {LinkId{0}}, samples::bandwidth});
  const Topology whole(std::move(parts));
  const std::vector<NodeId> centre{NodeId{4}};
  const std::vector<LinkId> first{LinkId{0}};
  const Topology rest = without(whole, centre, first);
  CHECK(rest.npu_count() == 8);
  CHECK(rest.link_count() == 24 - 8 - 1); // the centre's four duplex links, and one more
  CHECK(rest.node(NodeId{4}).name == "npu5");
  CHECK(rest.coordinate(NodeId{4})[1] == 2);
  REQUIRE(rest.groups().size() == 1);
  CHECK(rest.groups()[0].links.size() == 1);
  std::vector<NodeId> everyone;
  for (std::uint32_t n = 0; n < 9; ++n) everyone.emplace_back(n);
  CHECK(message_of([&] { (void)without(whole, everyone, {}); }) ==
        "a topology needs at least one node");
}

TEST_CASE("fingerprints tell topologies apart by what decides a simulation") {
  const TopologyParts base = samples::mesh_parts(2, 2);
  const std::uint64_t print = Topology(base).fingerprint();
  TopologyParts other = base;
  other.name = "another name";
  CHECK(Topology(other).fingerprint() == print);
  other = base;
  other.links[0].latency.ps += 1;
  CHECK(Topology(other).fingerprint() != print);
  other = base;
  other.nodes[3].can.copy = false;
  CHECK(Topology(other).fingerprint() != print);
  other = base;
  other.groups.push_back({"bus", {LinkId{0}}, samples::bandwidth});
  CHECK(Topology(other).fingerprint() != print);
}

} // namespace topology_test
