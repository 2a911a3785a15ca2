// What a sketch leaves of a network: which connections, at which cost, with which symmetry.
#include "synth/taccl/logical_topology.hpp"
#include "synth/taccl/proposals.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "tests/synth/taccl/machines.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace logical_topology_test {

using namespace tutti;

namespace {

Sketch sketch_of(const std::string& toml) { return parse_sketch(toml, "s"); }

std::size_t between(const LogicalTopology& logical) {
  return static_cast<std::size_t>(
      std::ranges::count_if(logical.connections, &Connection::between_machines));
}

const Link& link(const LogicalTopology& logical, std::uint32_t from, std::uint32_t to) {
  for (const LinkId id : logical.topology.out_links(NodeId{from}))
    if (logical.topology.link(id).to == NodeId{to}) return logical.topology.link(id);
  FAIL("no connection from " << from << " to " << to);
  return logical.topology.link(LinkId{0});
}

constexpr const char* inside = "[[inside.switches]]\nnpus = [0, 1, 2, 3]\npolicy = \"uc-min\"\n";

} // namespace

TEST_CASE("logical topology: a relay for each NIC") {
  const Topology network = samples::four_npu_machines(2);
  const LogicalTopology logical = logical_topology(
      network, sketch_of(fmt::format("machines = 2\n{}[between]\n"
                                     "connections = {{ 1 = [0], 3 = [2] }}\n"
                                     "leaves_through = {{ 1 = [0, 1], 3 = [2, 3] }}\n",
                                     inside)));
  CHECK(logical.topology.npu_count() == 8);
  CHECK(logical.topology.node_count() == 8);
  CHECK(between(logical) == 4); // 1 -> 4, 3 -> 6, and back
  CHECK(logical.topology.link_count() == 2 * 4 * 3 + 4);
  CHECK(link(logical, 1, 4).bandwidth == Bandwidth{10'000'000'000}); // its NIC alone
  CHECK(link(logical, 1, 4).latency == Time{1'000'000});             // out of one NIC, into another
  CHECK(link(logical, 0, 3).latency == Time{400'000});
  CHECK(link(logical, 0, 3).bandwidth == Bandwidth{100'000'000'000});
  CHECK(logical.leaves_through[4] == std::vector{NodeId{5}});
  CHECK(logical.leaves_through[3] == std::vector{NodeId{3}});
  // Into and out of each NPU three connections share a link of the switch.
  CHECK(logical.topology.groups().size() == 2 * 8);
  for (const SharedGroup& group : logical.topology.groups()) CHECK(group.links.size() == 3);
}

TEST_CASE("logical topology: connections that share a NIC have shares of it") {
  const Topology network = samples::four_npu_machines(2);
  const auto bandwidth = [&](const std::string& rest) {
    return link(logical_topology(network, sketch_of("machines = 2\n[between]\n" + rest)), 0, 4)
        .bandwidth.bytes_per_second;
  };
  CHECK(bandwidth("connections = \"direct\"") == 5'000'000'000);                  // 0 and 1
  CHECK(bandwidth("connections = \"full\"") == 10'000'000'000 / 8);               // 2 x 4
  CHECK(bandwidth("connections = \"direct\"\nbeta_split = 1") == 10'000'000'000); // as asked
  CHECK(bandwidth("connections = { 0 = [0, 1], 2 = [2, 3] }") == 5'000'000'000);
}

TEST_CASE("logical topology: machines without switches keep their links") {
  const LogicalTopology one = logical_topology(make_topology("dgx1"), sketch_of("name = \"all\""));
  const std::uint32_t direct = one.topology.link_count();
  CHECK(direct >= 32);
  const LogicalTopology some = logical_topology(
      make_topology("dgx1"), sketch_of("[inside]\nlinks = [[0, 1], [1, 0], [1, 2], [2, 1]]"));
  CHECK(some.topology.link_count() < direct);
  for (std::uint32_t l = 0; l < some.topology.link_count(); ++l) {
    const Link& on = some.topology.link(LinkId{l});
    CHECK((on.from.value == 1 || on.to.value == 1));
  }
  CHECK(message_of([] {
          (void)logical_topology(make_topology("ring:4"), sketch_of("[inside]\nlinks = [[0, 2]]"));
        }) == "s:2:9: npu0 has no link to npu2");
}

TEST_CASE("logical topology: rotations are automorphisms, or refused with what they lack") {
  const Topology network = samples::four_npu_machines(2);
  const std::string relays = fmt::format("machines = 2\nsymmetry = [[2, 4], [4, 8]]\n{}[between]\n"
                                         "connections = {{ 1 = [0], 3 = [2] }}\n",
                                         inside);
  const LogicalTopology logical = logical_topology(network, sketch_of(relays));
  REQUIRE(logical.symmetry.size() == 2);
  CHECK(logical.symmetry[0] == Permutation{2, 3, 0, 1, 6, 7, 4, 5});
  CHECK(logical.symmetry[1] == Permutation{4, 5, 6, 7, 0, 1, 2, 3});
  std::string by_one = relays;
  by_one.replace(by_one.find("[2, 4]"), 6, "[1, 4]");
  CHECK(message_of([&] { (void)logical_topology(network, sketch_of(by_one)); }) ==
        "s:2:13: machines of four isn't symmetric by 1 in groups of 4: npu1 -> npu4 would be npu2 "
        "-> npu5, which there isn't");
  // A rotation that the network has but what leaves through whom hasn't.
  CHECK(message_of([&] {
          (void)logical_topology(network,
                                 sketch_of(relays + "leaves_through = { 1 = [0, 1, 3], 3 = [2] }"));
        }) == "s:2:13: machines of four isn't symmetric by 2 in groups of 4: chunks of npu1 and of "
              "npu3 leave through others");
}

TEST_CASE("logical topology: symmetry is found") {
  const Topology network = samples::four_npu_machines(2);
  const LogicalTopology logical =
      logical_topology(network, sketch_of("machines = 2\nsymmetry = \"auto\"\n[between]\n"
                                          "connections = { 1 = [0], 3 = [2] }\n"));
  const std::set<Permutation> found(logical.symmetry.begin(), logical.symmetry.end());
  CHECK(found.contains(Permutation{4, 5, 6, 7, 0, 1, 2, 3}));
  CHECK(found.contains(Permutation{2, 3, 0, 1, 6, 7, 4, 5}));
  CHECK_FALSE(found.contains(Permutation{1, 2, 3, 0, 5, 6, 7, 4}));
}

TEST_CASE("logical topology: an NPU that can't copy is like no other") {
  TopologyParts parts = samples::ring(4).parts();
  parts.nodes[1].can.copy = false;
  const LogicalTopology logical =
      logical_topology(Topology(std::move(parts)), sketch_of("symmetry = \"auto\"\n"));
  CHECK(logical.symmetry.empty());
}

TEST_CASE("logical topology: reversed, sums come back the way chunks leave") {
  const LogicalTopology there =
      logical_topology(samples::four_npu_machines(2),
                       sketch_of("machines = 2\n[between]\nconnections = { 1 = [0], 3 = [2] }\n"
                                 "leaves_through = { 1 = [0, 1], 3 = [2, 3] }\n"));
  const LogicalTopology back = reversed(there);
  // Sums for NPUs 0 and 1 enter their machine at 0, the receiver of sender 1.
  CHECK(back.leaves_through[0] == std::vector{NodeId{0}});
  CHECK(back.leaves_through[1] == std::vector{NodeId{0}});
  CHECK(back.leaves_through[7] == std::vector{NodeId{6}});
  for (std::uint32_t l = 0; l < there.topology.link_count(); ++l) {
    CHECK(back.topology.link(LinkId{l}).from == there.topology.link(LinkId{l}).to);
    CHECK(std::ranges::equal(back.paths[l].rbegin(), back.paths[l].rend(), there.paths[l].begin(),
                             there.paths[l].end()));
  }
}

TEST_CASE("proposals: machines are what the widest links tie together") {
  CHECK(machines_of(samples::four_npu_machines(3)) == 3);
  CHECK(machines_of(make_topology("ndv2x2_pcie")) == 2);
  CHECK(machines_of(make_topology("ndv2x4_pcie")) == 4);
  CHECK(machines_of(make_topology("dgx2x2")) == 2);
  CHECK(machines_of(make_topology("dgx1")) == 1);
  CHECK(machines_of(make_topology("ring:8")) == 1);
  CHECK(machines_of(make_topology("switch:6")) == 1);
}

TEST_CASE("proposals: they fit, can be written, and have a relay for each NIC") {
  const Topology network = samples::four_npu_machines(2);
  bool has_relay = false;
  for (const SketchProposal& proposal : sketch_proposals(network, machines_of(network))) {
    INFO(sketch_toml(proposal.sketch, proposal.why));
    const Sketch sketch = parse_sketch(sketch_toml(proposal.sketch, proposal.why), "s");
    CHECK_NOTHROW(require_fitting(sketch, network));
    CHECK_NOTHROW(logical_topology(network, sketch));
    if (sketch.name != "relay") continue;
    has_relay = true;
    CHECK(sketch.connections == std::map<LocalRank, std::vector<LocalRank>>{{1, {0}}, {3, {2}}});
    CHECK(sketch.leaves_through.at(3) == std::vector<LocalRank>{2, 3});
  }
  CHECK(has_relay);
}

} // namespace logical_topology_test
