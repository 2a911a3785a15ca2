// Every family against formulas: counts, degrees, numbering, link order.
#include "topologies/list.hpp"

#include "tests/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace families_test {

using namespace tutti;

namespace {

struct Count {
  std::string text;
  std::uint32_t npus, switches, links;
};

// Odd, even, prime and 1- and 2-wide extents of every family.
const std::vector<Count> counts = {
    // 2n; for n = 2 one link each way
    {"ring:2", 2, 0, 2},
    {"ring:3", 3, 0, 6},
    {"ring:7", 7, 0, 14},
    {"ring:64", 64, 0, 128},
    // n(n-1)
    {"fully_connected:2", 2, 0, 2},
    {"fully_connected:5", 5, 0, 20},
    {"fully_connected:64", 64, 0, 4032},
    // 2 ((a-1) b + a (b-1))
    {"mesh2d:3x5", 15, 0, 2 * (2 * 5 + 3 * 4)},
    {"mesh2d:8x8", 64, 0, 2 * (7 * 8 + 8 * 7)},
    {"mesh2d:1x4", 4, 0, 6},
    {"mesh2d:2x2", 4, 0, 8},
    // 2 ((a-1) bc + a (b-1) c + ab (c-1))
    {"mesh3d:4x4x4", 64, 0, 2 * 3 * (3 * 16)},
    {"mesh3d:2x3x5", 30, 0, 2 * (1 * 15 + 2 * 2 * 5 + 6 * 4)},
    // per dimension 2ab, or ab where its extent is 2, or none where it is 1
    {"torus2d:3x5", 15, 0, 4 * 15},
    {"torus2d:2x5", 10, 0, 10 + 20},
    {"torus2d:2x2", 4, 0, 8},
    {"torus2d:1x5", 5, 0, 10},
    {"torus3d:3x4x5", 60, 0, 6 * 60},
    {"torus3d:2x2x3", 12, 0, 12 + 12 + 24},
    // D 2^D
    {"hypercube:1", 2, 0, 2},
    {"hypercube:3", 8, 0, 24},
    {"hypercube:6", 64, 0, 384},
    // 2n
    {"switch:2", 2, 1, 4},
    {"switch:7", 7, 1, 14},
    // a switch per box and per index, 4ab; extent 1 has no switch
    {"two_level_switch:8x4", 32, 4 + 8, 128},
    {"two_level_switch:3x5", 15, 5 + 3, 60},
    {"two_level_switch:4x1", 4, 1, 8},
    // ring of 2: one link per NPU; of 3: two; b-1 in the group; 2 to and from the switch
    {"rfs:2x4x8", 64, 2 * 4, 64 * (1 + 3 + 2)},
    {"rfs:3x5x7", 105, 15, 105 * (2 + 4 + 2)},
    // ag(a-1) + g(g-1)
    {"dragonfly:4x5", 20, 0, 20 * 3 + 5 * 4},
    {"dragonfly:7x8", 56, 0, 56 * 6 + 8 * 7},
    {"dragonfly:2x7", 14, 0, 14 + 42},
    {"dragonfly:1x3", 3, 0, 6},
    {"dragonfly:5x1", 5, 0, 20},
    // K^3/4 NPUs, 5K^2/4 switches, three levels of K^3/4 cables
    {"fat_tree:2", 2, 5, 2 * 3 * 2},
    {"fat_tree:4", 16, 20, 2 * 3 * 16},
    {"fat_tree:6", 54, 45, 2 * 3 * 54},
    // K^N NPUs, N levels of K^(N-1) switches and of K^N cables
    {"k_ary_tree:8x2", 64, 2 * 8, 2 * 2 * 64},
    {"k_ary_tree:4x3", 64, 3 * 16, 2 * 3 * 64},
    {"k_ary_tree:3x1", 3, 1, 6},
    {"k_ary_tree:5x2", 25, 10, 100},
    // a switch per node and per NIC, 4ab
    {"multi_rail:8x4", 32, 4 + 8, 128},
    {"multi_rail:5x3x2", 15, 3 + 2, 60},
    {"multi_rail:8x1", 8, 1, 16},
    {"multi_rail:1x3", 3, 1, 6},
    // per server 1 NVSwitch, 4 PCIe switches, 1 memory and 8 + 8 + 4 cables; from two on 8 rails
    // and 8 cables a server to them
    {"dgx_a100_rail:1", 8, 6, 2 * 20},
    {"dgx_a100_rail:3", 24, 3 * 6 + 8, 2 * 3 * 28},
    {"dgx_a100_rail:3,links=nvlink", 24, 3 + 8, 2 * 3 * 16},
    {"dgx_a100_rail:3,links=pcie,memory=switch", 24, 3 * 5 + 8, 2 * 3 * 20},
    // a ring for each chassis; from two chassis on a switch and 2 links a GPU to it
    {"teccl_internal:4x1", 4, 0, 8},
    {"teccl_internal:2x1", 2, 0, 2},
    {"teccl_internal:4x16", 64, 1, 16 * (8 + 2 * 4)},
    {"teccl_internal:2x128,switch=copy", 256, 1, 128 * (2 + 2 * 2)},
    {"teccl_internal:5x3", 15, 1, 3 * (10 + 10)},
    {"taccl_ndv2:1", 8, 4 + 2, 2 * (16 + 8 + 4 + 1)},
    {"taccl_ndv2:2", 16, 2 * (4 + 2 + 1) + 1, 2 * 2 * (16 + 8 + 4 + 1 + 1 + 1)},
    {"taccl_dgx2:1", 16, 1, 2 * 16},
    {"taccl_dgx2:3", 48, 3 * (1 + 8) + 1, 3 * 2 * (16 + 16 + 8)},
    // a cable a GPU to its NVSwitch, and a NIC a GPU where there are rails; a mesh instead
    {"dgx_h100:1", 8, 1, 2 * 8},
    {"dgx_h100:2", 16, 2 + 8, 2 * (16 + 16)},
    {"dgx_h100:4,npus=4,nics=2", 16, 4 + 2, 2 * (16 + 16)},
    {"dgx_h200:2,nics=16", 16, 2 + 16, 2 * (16 + 32)},
    {"dgx_b200:3,fabric=switch", 24, 3 + 1, 2 * (24 + 24)},
    {"hgx_b300:2,nvls=off", 16, 2 + 8, 2 * (16 + 16)},
    {"gb200_nvl72:1", 72, 1, 2 * 72},
    {"gb200_nvl72:2,npus=36", 72, 2 + 36, 2 * (72 + 72)},
    {"gb300_nvl72:2", 144, 2 + 72, 2 * (144 + 144)},
    {"mi300x:1", 8, 0, 56},
    {"mi300x:4", 32, 8, 4 * 56 + 2 * 32},
    {"mi325x:2", 16, 8, 2 * 56 + 2 * 16},
    {"mi355x:1", 8, 0, 56},
    {"hgx_a100:2", 16, 2 + 8, 2 * (16 + 16)},
    {"l40s:2", 16, 2 + 4, 2 * (16 + 16)}, // two GPUs a NIC
    {"a10g:1", 8, 1, 2 * 8},
    {"rtx4090:1,npus=4", 4, 1, 2 * 4},
    {"rtx5090:2,nics=8", 16, 2 + 8, 2 * (16 + 16)},
    {"rtx_pro_6000:3", 24, 3 + 4, 2 * (24 + 24)},
    {"dgx_spark:2", 2, 0, 2},
    {"dgx_spark:3", 3, 1, 6},
    // the cycle alone; complete, since matchings of three and four have room for it
    {"random:2", 2, 0, 2},
    {"random:9,degree=2", 9, 0, 18},
    {"random:4,degree=3", 4, 0, 12},
};

bool reaches_all(const Topology& t) {
  std::vector<bool> seen(t.node_count());
  std::vector<NodeId> stack{NodeId{0}};
  seen[0] = true;
  while (!stack.empty()) {
    const NodeId node = stack.back();
    stack.pop_back();
    for (const LinkId link : t.out_links(node))
      if (const NodeId to = t.link(link).to; !seen[to.value]) {
        seen[to.value] = true;
        stack.push_back(to);
      }
  }
  return std::find(seen.begin(), seen.end(), false) == seen.end();
}

std::vector<int> coordinates(const Topology& t, std::uint32_t node) {
  const std::span<const int> at = t.coordinate(NodeId{node});
  return {at.begin(), at.end()};
}

/// Links whose ends lie on different sides of coordinate[0] < cut, in that direction.
int crossing(const Topology& t, int cut) {
  int links = 0;
  for (const Link& link : t.links())
    links += t.coordinate(link.from)[0] < cut && t.coordinate(link.to)[0] >= cut ? 1 : 0;
  return links;
}

} // namespace

TEST_CASE("NICs beyond a GPU's slot are held back by it, each way") {
  const auto groups_of = [](const char* text) { return make_topology(text).groups(); };
  CHECK(groups_of("dgx_h100:2").empty());
  CHECK(groups_of("gb300_nvl72:2,npus=4").empty());
  const Topology four = make_topology("dgx_h100:3,npus=1,nics=4");
  REQUIRE(four.groups().size() == 6);
  for (const SharedGroup& group : four.groups()) {
    CHECK(group.links.size() == 4);
    CHECK(group.bandwidth == Bandwidth{63'015'384'615}); // 16 lanes of 32 GT/s, 128 bits of 130
  }
  CHECK(four.groups()[0].name == "slot of npu0 out");
  for (const LinkId link : four.groups()[0].links) CHECK(four.link(link).from == NodeId{0});
  for (const LinkId link : four.groups()[1].links) CHECK(four.link(link).to == NodeId{0});
  CHECK(groups_of("dgx_spark:2,nics=2").size() == 4); // cables, each out of one and into the other
}

TEST_CASE("families have the NPUs, switches and links of their formulas") {
  for (const Count& expected : counts) {
    INFO(expected.text);
    const Topology t = make_topology(expected.text);
    CHECK(t.npu_count() == expected.npus);
    CHECK(t.node_count() - t.npu_count() == expected.switches);
    CHECK(t.link_count() == expected.links);
  }
}

TEST_CASE("every family is in the table of counts") {
  for (const TopologyRow& row : topology_families()) {
    INFO(row.name);
    CHECK(std::any_of(counts.begin(), counts.end(), [&](const Count& count) {
      return count.text.starts_with(std::string(row.name) + ":");
    }));
    CHECK_FALSE(row.shape.empty());
    CHECK_FALSE(row.note.empty());
  }
}

TEST_CASE("families are connected, every link has one back, none is doubled") {
  for (const Count& count : counts) {
    INFO(count.text);
    const Topology t = make_topology(count.text + ",bandwidth=10GB/s,latency=1us");
    CHECK(reaches_all(t));
    std::set<std::pair<NodeId, NodeId>> pairs;
    for (const Link& link : t.links()) pairs.insert({link.from, link.to});
    CHECK(pairs.size() == t.link_count());
    for (const Link& link : t.links()) {
      CHECK(pairs.contains({link.to, link.from}));
      if (count.text.starts_with("taccl_")) continue; // PCIe keeps its own values
      CHECK(link.bandwidth == Bandwidth{10'000'000'000});
      CHECK(link.latency == Time{1'000'000});
    }
    for (std::uint32_t n = 0; n < t.node_count(); ++n)
      CHECK(t.out_links(NodeId{n}).size() == t.in_links(NodeId{n}).size());
  }
}

TEST_CASE("NPUs can do all, switches only forward, names count through") {
  const Topology t = make_topology("two_level_switch:3x2");
  CHECK(t.node(NodeId{0}).name == "npu0");
  CHECK(t.node(NodeId{5}).name == "npu5");
  CHECK(t.node(NodeId{6}).name == "switch0");
  CHECK(t.node(NodeId{10}).name == "switch4");
  for (const Node& node : t.nodes())
    CHECK(node.can == (node.kind == NodeKind::npu ? Abilities{true, true, true}
                                                  : Abilities{false, false, false}));
}

TEST_CASE("a dimension's links change that coordinate only, by the wiring's step") {
  for (const std::string text : {"ring:5", "mesh2d:3x4", "mesh3d:2x3x4", "torus2d:3x5",
                                 "torus3d:2x3x4", "fully_connected:5", "hypercube:4"}) {
    INFO(text);
    const Topology t = make_topology(text);
    for (const Link& link : t.links()) {
      const std::span<const int> from = t.coordinate(link.from), to = t.coordinate(link.to);
      for (std::size_t d = 0; d < from.size(); ++d) {
        const int step = (to[d] - from[d] + t.shape()[d]) % t.shape()[d];
        if (static_cast<int>(d) != link.dimension)
          CHECK(step == 0);
        else if (text.starts_with("fully"))
          CHECK(step != 0);
        else
          CHECK((step == 1 || step == t.shape()[d] - 1));
      }
    }
  }
}

TEST_CASE("dimension 0 of the coordinates varies fastest") {
  const Topology t = make_topology("mesh3d:2x3x4");
  CHECK(coordinates(t, 0) == std::vector<int>{0, 0, 0});
  CHECK(coordinates(t, 1) == std::vector<int>{1, 0, 0});
  CHECK(coordinates(t, 2) == std::vector<int>{0, 1, 0});
  CHECK(coordinates(t, 23) == std::vector<int>{1, 2, 3}); // 1 + 2 * (2 + 3 * 3)
  CHECK(std::vector<int>(t.shape().begin(), t.shape().end()) == std::vector<int>{2, 3, 4});
  CHECK(coordinates(make_topology("hypercube:3"), 6) == std::vector<int>{0, 1, 1}); // bits of 6
}

TEST_CASE("a ring's forward links come first") {
  const Topology t = make_topology("ring:5");
  for (std::uint32_t i = 0; i < 5; ++i) {
    CHECK(t.link(LinkId{i}).from == NodeId{i});
    CHECK(t.link(LinkId{i}).to == NodeId{(i + 1) % 5});
    CHECK(t.link(LinkId{5 + i}).from == NodeId{i});
    CHECK(t.link(LinkId{5 + i}).to == NodeId{(i + 4) % 5});
  }
}

TEST_CASE("directions=1 keeps the forward links of rings and tori") {
  const Topology ring = make_topology("ring:5,directions=1");
  REQUIRE(ring.link_count() == 5);
  CHECK(ring.link(LinkId{4}).to == NodeId{0});
  CHECK(reaches_all(ring));
  CHECK(make_topology("ring:2,directions=1").link_count() == 2);
  const Topology torus = make_topology("torus2d:3x4,directions=1");
  CHECK(torus.link_count() == 2 * 12);
  for (std::uint32_t n = 0; n < 12; ++n) CHECK(torus.in_links(NodeId{n}).size() == 2);
  CHECK(make_topology("torus3d:3x3x3,directions=1").link_count() == 3 * 27);
}

TEST_CASE("degrees: corner, edge and inner NPUs of a mesh; every NPU of a torus") {
  const Topology mesh = make_topology("mesh2d:4x3");
  CHECK(mesh.out_links(NodeId{0}).size() == 2);  // (0, 0)
  CHECK(mesh.out_links(NodeId{1}).size() == 3);  // (1, 0)
  CHECK(mesh.out_links(NodeId{5}).size() == 4);  // (1, 1)
  CHECK(mesh.out_links(NodeId{11}).size() == 2); // (3, 2)
  const Topology torus = make_topology("torus3d:3x4x5");
  for (std::uint32_t n = 0; n < 60; ++n) CHECK(torus.out_links(NodeId{n}).size() == 6);
}

TEST_CASE("bisection: b links each way for a mesh axb, 2b for a torus") {
  CHECK(crossing(make_topology("mesh2d:8x5"), 4) == 5);
  CHECK(crossing(make_topology("torus2d:8x5"), 4) == 10);
  CHECK(crossing(make_topology("mesh3d:4x4x4"), 2) == 16);
  CHECK(crossing(make_topology("hypercube:6"), 1) == 32);
}

TEST_CASE("a switch joins all NPUs: links to it first, then from it") {
  const Topology t = make_topology("switch:3");
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(t.link(LinkId{i}).from == NodeId{i});
    CHECK(t.link(LinkId{i}).to == NodeId{3});
    CHECK(t.link(LinkId{3 + i}).from == NodeId{3});
    CHECK(t.link(LinkId{3 + i}).to == NodeId{i});
  }
  CHECK(t.coordinate(NodeId{3}).empty());
  CHECK(t.link(LinkId{0}).dimension == 0);
}

TEST_CASE("a two-level switch joins equal boxes and equal indices") {
  const Topology t = make_topology("two_level_switch:8x4,bandwidth=300GB/s+25GB/s");
  for (const Link& link : t.links()) {
    const NodeId npu = std::min(link.from, link.to), hub = std::max(link.from, link.to);
    const std::span<const int> at = t.coordinate(npu);
    // Switches 0-3 are the boxes', 4-11 those of the indices.
    const auto expected = static_cast<std::uint32_t>(link.dimension == 0 ? at[1] : 4 + at[0]);
    CHECK(hub.value - 32 == expected);
    CHECK(link.bandwidth.bytes_per_second ==
          (link.dimension == 0 ? 300'000'000'000 : 25'000'000'000));
  }
}

TEST_CASE("multi-rail without shared NICs is the two-level switch") {
  for (const std::string shape : {"8x4", "3x2", "4x1", "1x4"})
    CHECK(make_topology("multi_rail:" + shape).fingerprint() ==
          make_topology("two_level_switch:" + shape).fingerprint());
}

TEST_CASE("GPUs of one NIC share its bandwidth in each direction") {
  // Two nodes of four GPUs and two NICs: GPUs 0, 1 on NIC 0, GPUs 2, 3 on NIC 1.
  const Topology t = make_topology("multi_rail:4x2x2,bandwidth=125GB/s+12.5GB/s");
  REQUIRE(t.groups().size() == 2 * 2 * 2);
  for (const SharedGroup& group : t.groups()) {
    INFO(group.name);
    CHECK(group.bandwidth == Bandwidth{12'500'000'000});
    REQUIRE(group.links.size() == 2);
    const Link &a = t.link(group.links[0]), &b = t.link(group.links[1]);
    CHECK(a.dimension == 1);
    CHECK((a.from == b.from || a.to == b.to)); // one rail
    const std::uint32_t first = std::min(a.from, a.to).value, second = std::min(b.from, b.to).value;
    CHECK(first % 2 == 0);
    CHECK(second == first + 1);
  }
  CHECK(t.groups()[0].name == "nic0 of node 0 out");
  CHECK(t.groups()[7].name == "nic1 of node 1 in");
  // Three GPUs on two NICs: 0 * 2/3 = 0, 1 * 2/3 = 0, 2 * 2/3 = 1; only NIC 0 is shared.
  CHECK(make_topology("multi_rail:3x2x2").groups().size() == 4);
}

TEST_CASE("DGX A100 servers on rails: one and two are the machines") {
  CHECK(make_topology("dgx_a100_rail:1").fingerprint() == make_topology("dgx_a100").fingerprint());
  CHECK(make_topology("dgx_a100_rail:2").fingerprint() ==
        make_topology("dgx_a100x2").fingerprint());
}

TEST_CASE("DGX A100 servers on rails: who is joined to whom") {
  const Topology t = make_topology("dgx_a100_rail:4,bandwidth=8GB/s+4GB/s+2GB/s+1GB/s");
  const auto bandwidth = [&](const std::string& from, const std::string& to) {
    for (const LinkId link : t.out_links(t.find_node(from)))
      if (t.link(link).to == t.find_node(to)) return t.link(link).bandwidth.bytes_per_second;
    return std::int64_t{0};
  };
  // NPU 21 is GPU 5 of server 2, on that server's third PCIe switch and the rail of GPUs 5.
  CHECK(coordinates(t, 21) == std::vector<int>{5, 2});
  CHECK(t.out_links(NodeId{21}).size() == 2);
  CHECK(bandwidth("npu21", "nvswitch2") == 8'000'000'000);
  CHECK(bandwidth("npu21", "pcie2_2") == 4'000'000'000);
  CHECK(bandwidth("pcie2_2", "memory2") == 2'000'000'000);
  CHECK(bandwidth("rail5", "pcie2_2") == 1'000'000'000);
  CHECK(bandwidth("pcie2_2", "rail4") == 1'000'000'000);
  CHECK(bandwidth("pcie2_2", "rail6") == 0);
  CHECK(t.out_links(t.find_node("rail5")).size() == 4);
  CHECK(t.node(t.find_node("memory2")).can == Abilities{true, true, false});
}

TEST_CASE("DGX A100 servers without PCIe have their NICs at the GPUs; a memory may just forward") {
  const Topology nvlink = make_topology("dgx_a100_rail:2,links=nvlink");
  for (std::uint32_t n = 0; n < 16; ++n) {
    REQUIRE(nvlink.out_links(NodeId{n}).size() == 2);
    CHECK(nvlink.node(nvlink.link(nvlink.out_links(NodeId{n})[1]).to).name ==
          "rail" + std::to_string(n % 8));
  }
  const Topology pcie = make_topology("dgx_a100_rail:2,links=pcie,memory=switch");
  for (std::uint32_t n = 0; n < 16; ++n) CHECK(pcie.out_links(NodeId{n}).size() == 1);
  const Node& memory = pcie.node(pcie.find_node("memory1"));
  CHECK(memory.kind == NodeKind::switching);
  CHECK(memory.can == Abilities{false, false, false});
}

TEST_CASE("TE-CCL's Internal 1 and 2: Table 2's GPUs and edges a chassis, its two latencies") {
  struct Row {
    std::uint32_t gpus, edges;
  };
  for (const Row& row : {Row{4, 8}, Row{2, 2}}) {
    const Topology t = make_topology("teccl_internal:" + std::to_string(row.gpus) + "x3");
    std::map<std::uint32_t, std::uint32_t> edges; // of each chassis
    for (const Link& link : t.links()) {
      const bool inside =
          t.node(link.from).kind == NodeKind::npu && t.node(link.to).kind == NodeKind::npu;
      CHECK(link.latency == Time{inside ? 600'000 : 750'000});
      CHECK(link.bandwidth == Bandwidth{inside ? 50'000'000'000 : 25'000'000'000});
      CHECK(link.dimension == (inside ? 0 : 1));
      if (!inside) continue;
      CHECK(link.from.value / row.gpus == link.to.value / row.gpus);
      ++edges[link.from.value / row.gpus];
    }
    CHECK(edges ==
          std::map<std::uint32_t, std::uint32_t>{{0, row.edges}, {1, row.edges}, {2, row.edges}});
    CHECK(coordinates(t, row.gpus + 1) == std::vector<int>{1, 1});
    const NodeId hub = t.find_node("switch0");
    CHECK(t.node(hub).can == Abilities{false, false, false});
    CHECK(t.out_links(hub).size() == 3 * row.gpus);
    CHECK(t.in_links(hub).size() == 3 * row.gpus);
  }
}

TEST_CASE("TE-CCL's Internal 1: rings in both directions, a switch that may copy, other values") {
  const Topology t =
      make_topology("teccl_internal:4x2,switch=copy,bandwidth=100GB/s+10GB/s,latency=1us+2us");
  CHECK(t.node(t.find_node("switch0")).can == Abilities{false, true, false});
  std::set<std::pair<std::uint32_t, std::uint32_t>> ring;
  for (const Link& link : t.links()) {
    CHECK(link.bandwidth.bytes_per_second ==
          (link.dimension == 0 ? 100'000'000'000 : 10'000'000'000));
    CHECK(link.latency == Time{link.dimension == 0 ? 1'000'000 : 2'000'000});
    if (link.dimension == 0) ring.insert({link.from.value, link.to.value});
  }
  for (std::uint32_t i = 0; i < 8; ++i) {
    const std::uint32_t next = i / 4 * 4 + (i + 1) % 4;
    CHECK(ring.contains({i, next}));
    CHECK(ring.contains({next, i}));
  }
  CHECK(ring.size() == 16);
}

TEST_CASE("a random graph: degrees, bandwidths of cables, and other seeds") {
  const Topology t =
      make_topology("random:40,degree=5,seed=3,bandwidth=25GB/s+50GB/s+100GB/s,latency=1us");
  CHECK(t.link_count() > 40 * 4); // 4 for an almost perfect matching in every round
  CHECK(t.link_count() <= 40 * 5);
  CHECK(reaches_all(t));
  std::map<std::int64_t, int> cables;
  for (std::uint32_t l = 0; l < t.link_count(); l += 2) { // both directions together
    const Link &there = t.link(LinkId{l}), &back = t.link(LinkId{l + 1});
    CHECK((there.from == back.to && there.to == back.from));
    CHECK(there.bandwidth == back.bandwidth);
    ++cables[there.bandwidth.bytes_per_second];
  }
  CHECK(cables.size() == 3);
  for (const auto& [bandwidth, count] : cables) CHECK(count > 15); // of some 100 / 3
  for (std::uint32_t n = 0; n < 40; ++n) {
    CHECK(t.out_links(NodeId{n}).size() >= 2);
    CHECK(t.out_links(NodeId{n}).size() <= 5);
  }
  CHECK(make_topology("random:40,degree=5,seed=4").fingerprint() !=
        make_topology("random:40,degree=5,seed=3").fingerprint());
  CHECK(make_topology("random:40").fingerprint() ==
        make_topology("random:40,degree=4,seed=1").fingerprint());
}

TEST_CASE("rfs: a ring, a fully connected group and a switch, each with its own values") {
  const Topology t =
      make_topology("rfs:2x4x8,bandwidth=200GB/s+100GB/s+50GB/s,latency=0.5us+0.7us+1us");
  std::map<int, int> links;
  for (const Link& link : t.links()) {
    ++links[link.dimension];
    CHECK(link.bandwidth.bytes_per_second == 200'000'000'000 >> link.dimension);
    CHECK(link.latency.ps == std::vector<std::int64_t>{500'000, 700'000, 1'000'000}.at(
                                 static_cast<std::size_t>(link.dimension)));
  }
  CHECK(links == std::map<int, int>{{0, 64}, {1, 64 * 3}, {2, 64 * 2}});
  // NPUs 0, 8, ... 56 differ in the last coordinate only: one switch.
  const NodeId hub = t.link(t.out_links(NodeId{0}).back()).to;
  CHECK(t.node(hub).kind == NodeKind::switching);
  for (const LinkId link : t.out_links(hub)) CHECK(t.link(link).to.value % 8 == 0);
}

TEST_CASE("a dragonfly joins each two groups once, its ports spread evenly") {
  for (const auto& [text, size] :
       std::vector<std::pair<std::string, std::uint32_t>>{{"dragonfly:4x5", 4},
                                                          {"dragonfly:7x8", 7},
                                                          {"dragonfly:3x8", 3},
                                                          {"dragonfly:5x3", 5}}) {
    INFO(text);
    const Topology t = make_topology(text + ",bandwidth=400GB/s+200GB/s");
    const std::uint32_t groups = t.npu_count() / size;
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> joined;
    std::vector<int> ports(t.npu_count());
    for (const Link& link : t.links()) {
      const std::uint32_t from = link.from.value / size, to = link.to.value / size;
      CHECK(link.bandwidth.bytes_per_second == (from == to ? 400'000'000'000 : 200'000'000'000));
      CHECK(link.dimension == -1);
      if (from == to) continue;
      ++joined[{from, to}];
      ++ports[link.from.value];
    }
    CHECK(joined.size() == groups * (groups - 1));
    for (const auto& [pair, links] : joined) CHECK(links == 1);
    // G - 1 ports on A NPUs: the floor or the ceiling of (G - 1) / A each
    const int least = static_cast<int>((groups - 1) / size);
    for (const int count : ports) CHECK((count == least || count == least + 1));
    CHECK(t.shape().empty());
  }
}

TEST_CASE("a fat tree has three levels of K-port switches") {
  const Topology t = make_topology("fat_tree:6,bandwidth=10GB/s+20GB/s+40GB/s");
  // 54 NPUs, 18 edge and 18 aggregation switches, 9 core switches, each of 6 ports
  for (std::uint32_t n = 0; n < 54; ++n) {
    REQUIRE(t.out_links(NodeId{n}).size() == 1);
    CHECK(t.link(t.out_links(NodeId{n})[0]).to.value == 54 + n / 3);
  }
  for (std::uint32_t n = 54; n < t.node_count(); ++n) CHECK(t.out_links(NodeId{n}).size() == 6);
  const auto level = [](NodeId node) {
    return node.value < 54 ? 0 : node.value < 72 ? 1 : node.value < 90 ? 2 : 3;
  };
  for (const Link& link : t.links()) {
    const int low = std::min(level(link.from), level(link.to));
    CHECK(std::max(level(link.from), level(link.to)) == low + 1);
    CHECK(link.bandwidth.bytes_per_second == 10'000'000'000 << low);
  }
  // Every core switch reaches every pod once: its aggregation switches lie in 6 different pods.
  for (std::uint32_t core = 90; core < 99; ++core) {
    std::set<std::uint32_t> pods;
    for (const LinkId link : t.out_links(NodeId{core}))
      pods.insert((t.link(link).to.value - 72) / 3);
    CHECK(pods.size() == 6);
  }
}

TEST_CASE("in a k-ary tree every switch has k links down, and k up but at the top") {
  const Topology t = make_topology("k_ary_tree:3x3,bandwidth=10GB/s+20GB/s+40GB/s");
  // 27 NPUs, three levels of 9 switches
  const auto level = [](NodeId node) { return node.value < 27 ? 0U : (node.value - 27) / 9 + 1; };
  for (std::uint32_t n = 27; n < 54; ++n) {
    const std::uint32_t own = level(NodeId{n});
    std::map<std::uint32_t, int> links;
    for (const LinkId link : t.out_links(NodeId{n})) {
      const std::uint32_t other = level(t.link(link).to);
      ++links[other];
      CHECK(t.link(link).bandwidth.bytes_per_second == 10'000'000'000
                                                           << (std::max(own, other) - 1));
    }
    CHECK(links[own - 1] == 3);
    if (own < 3) CHECK(links[own + 1] == 3);
  }
  // Every top switch reaches every NPU downwards: below it lie 3, 9, 27 different nodes.
  for (std::uint32_t top = 45; top < 54; ++top) {
    std::set<std::uint32_t> reached{top};
    for (std::uint32_t below = 3; below-- > 0;) {
      std::set<std::uint32_t> next;
      for (const std::uint32_t node : reached)
        for (const LinkId link : t.out_links(NodeId{node}))
          if (level(t.link(link).to) == below) next.insert(t.link(link).to.value);
      CHECK(next.size() == 3 * reached.size());
      reached = next;
    }
    CHECK(reached.size() == 27);
  }
}

TEST_CASE("links without given values have 50 GB/s and 0.5 us") {
  const Topology t = make_topology("mesh2d:2x2");
  for (const Link& link : t.links()) {
    CHECK(link.bandwidth == Bandwidth{50'000'000'000});
    CHECK(link.latency == Time{500'000});
  }
}

TEST_CASE("every dimension may have values of its own") {
  const Topology t = make_topology("mesh2d:3x3,bandwidth=100GB/s+50GB/s,latency=1us+2us");
  for (const Link& link : t.links()) {
    const bool row = link.to.value == link.from.value + 1 || link.from.value == link.to.value + 1;
    CHECK(link.bandwidth.bytes_per_second == (row ? 100'000'000'000 : 50'000'000'000));
    CHECK(link.latency.ps == (row ? 1'000'000 : 2'000'000));
  }
}

TEST_CASE("the largest topologies that are allowed") {
  CHECK(make_topology("hypercube:16").link_count() == 16 * 65536);
  CHECK(make_topology("mesh2d:1000x200").npu_count() == 200'000);
}

} // namespace families_test
