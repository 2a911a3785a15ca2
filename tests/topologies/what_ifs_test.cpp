// Words for lost and slower parts: what they leave, by hand, and how they are refused.
#include "topologies/what_ifs.hpp"

#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <tuple>

namespace what_ifs_test {

using namespace tutti;
using namespace tutti::topologies;

/// Bytes/s of all links from a node to another.
std::int64_t rate(const Topology& t, const std::string& from, const std::string& to) {
  std::int64_t sum = 0;
  const NodeId end = t.find_node(to);
  for (const LinkId l : t.out_links(t.find_node(from)))
    if (t.link(l).to == end) sum += t.effective_bandwidth(l).bytes_per_second;
  return sum;
}

bool has_node(const Topology& t, const std::string& name) {
  return std::ranges::find(t.nodes(), name, &Node::name) != t.nodes().end();
}

TEST_CASE("a lost card is one of every node, or of one") {
  const Topology all = make_topology("dgx_h100:2,lost-nic=3");
  CHECK(all.link_count() == make_topology("dgx_h100:2").link_count() - 4);
  CHECK_FALSE(has_node(all, "rail3")); // nothing leads there
  const Topology one = make_topology("dgx_h100:2,lost-nic=3@node1");
  CHECK(rate(one, "npu3", "rail3") == 50'000'000'000);
  CHECK(rate(one, "npu11", "rail3") == 0);
  CHECK(make_topology("dgx_h100:2,lost-nic=rail3@1").fingerprint() == one.fingerprint());
  // Numbers stay those of the whole machine.
  const Topology two = make_topology("dgx_h100:2,lost-nic=3+5");
  CHECK_FALSE(has_node(two, "rail3"));
  CHECK_FALSE(has_node(two, "rail5"));
  CHECK(two.name() == "dgx_h100:2,lost-nic=3+5");
  CHECK(make_topology(two.name()).fingerprint() == two.fingerprint());
  // A card that four GPUs share is one.
  const Topology shared = make_topology("dgx_h100:2,nics=2,lost-nic=1@node0");
  for (const char* npu : {"npu4", "npu7"}) CHECK(rate(shared, npu, "rail1") == 0);
  CHECK(rate(shared, "npu12", "rail1") > 0);
  const Topology pcie = make_topology("dgx_a100_rail:2,lost-nic=3");
  CHECK(rate(pcie, "pcie0_1", "rail2") == 25'000'000'000);
  CHECK_FALSE(has_node(pcie, "rail3"));
}

TEST_CASE("slower links and cards keep a share") {
  const Topology both = make_topology("dgx_h100:2,slow-link=npu3-rail3@50%");
  CHECK(rate(both, "npu3", "rail3") == 25'000'000'000);
  CHECK(rate(both, "rail3", "npu3") == 25'000'000'000);
  const Topology one_way = make_topology("dgx_h100:2,slow-link=npu3>rail3@0.1+npu4>rail4@20%");
  CHECK(rate(one_way, "npu3", "rail3") == 5'000'000'000);
  CHECK(rate(one_way, "rail3", "npu3") == 50'000'000'000);
  CHECK(rate(one_way, "npu4", "rail4") == 10'000'000'000);
  CHECK(make_topology("dgx_h100:2,slow-nic=3@node0@50%").fingerprint() == both.fingerprint());
  // What GPUs share has the share, too.
  const Topology shared = make_topology("dgx_h100:2,nics=2,slow-nic=0@50%");
  CHECK(shared.groups().front().bandwidth.bytes_per_second == 25'000'000'000);
}

TEST_CASE("lost GPUs, nodes and NVLinks") {
  CHECK(make_topology("dgx_h100:2,lost-gpu=npu3").npu_count() == 15);
  const Topology each = make_topology("dgx_h100:2,lost-gpu=3");
  CHECK(each.npu_count() == 14);
  CHECK_FALSE(has_node(each, "npu11"));
  CHECK(make_topology("mesh2d:4x4,lost-gpu=5").name() == "mesh2d:4x4,lost-gpu=5");
  const Topology node = make_topology("dgx_h100:3,lost-node=1");
  CHECK(node.npu_count() == 16);
  CHECK_FALSE(has_node(node, "nvswitch1"));
  CHECK(node.link_count() == make_topology("dgx_h100:2").link_count());
  // 17 of 18 NVLinks of 25 GB/s; one of a peer's pair of a DGX-1.
  const Topology nvlink = make_topology("dgx_h100:2,lost-nvlink=npu3");
  CHECK(rate(nvlink, "npu3", "nvswitch0") == 425'000'000'000);
  CHECK(rate(nvlink, "nvswitch0", "npu3") == 425'000'000'000);
  CHECK(rate(nvlink, "npu4", "nvswitch0") == 450'000'000'000);
  const Topology mesh = make_topology("mi300x:1,lost-nvlink=0");
  CHECK(rate(mesh, "npu0", "npu1") == 0); // its one link
  CHECK(rate(mesh, "npu0", "npu2") == 64'000'000'000);
}

TEST_CASE("half of a slot's lanes hold back what isn't NVLink") {
  const Topology t = make_topology("dgx_h100:2,pcie-lanes=8");
  CHECK(rate(t, "npu0", "rail0") == 31'507'692'308); // 32 GT/s, 128 of 130 bits, 8 lanes
  CHECK(rate(t, "npu0", "nvswitch0") == 450'000'000'000);
  CHECK(rate(make_topology("dgx_a100_rail:2,pcie-lanes=8"), "npu0", "pcie0_0") == 15'753'846'154);
}

TEST_CASE("other fabrics join the same cards") {
  const Topology rails = make_topology("dgx_h100:4");
  const Topology leaves = make_topology("dgx_h100:4,fabric=leaf_spine:2:1");
  CHECK_FALSE(has_node(leaves, "rail0"));
  CHECK(rate(leaves, "npu0", "leaf0") == 50'000'000'000);
  CHECK(rate(leaves, "npu31", "leaf3") == 50'000'000'000);
  std::int64_t up = 0;
  for (int s = 0; s < 4; ++s) up += rate(leaves, "leaf2", "spine" + std::to_string(s));
  CHECK(up == 8 * 50'000'000'000 / 2);
  CHECK_FALSE(has_node(leaves, "spine4"));
  // By a file's network, what the family builds itself.
  const Topology one = make_topology("dgx_a100_rail:2,fabric=switch");
  CHECK(rate(one, "pcie0_0", "fabric") == 50'000'000'000);
  CHECK(make_topology("dgx_a100_rail:2,fabric=rails").fingerprint() ==
        make_topology("dgx_a100_rail:2").fingerprint());
  CHECK(with_fabric(rails, {Fabric::Kind::one, 1}).fingerprint() ==
        make_topology("dgx_h100:4,fabric=switch").fingerprint());
}

TEST_CASE("a wrapped mesh is a torus") {
  const auto links = [](const Topology& t) {
    std::multiset<std::tuple<std::uint32_t, std::uint32_t, std::int64_t, int>> all;
    for (const Link& l : t.links())
      all.emplace(l.from.value, l.to.value, l.bandwidth.bytes_per_second, l.dimension);
    return all;
  };
  CHECK(links(make_topology("mesh2d:4x3,wrap=xy,bandwidth=100GB/s+50GB/s")) ==
        links(make_topology("torus2d:4x3,bandwidth=100GB/s+50GB/s")));
  CHECK(make_topology("mesh3d:3x3x3,wrap=y").link_count() == 3 * 36 + 18);
}

TEST_CASE("without GPUDirect what a card sends crosses the link to the host twice") {
  const Topology t = make_topology("dgx_h100:2,gdr=off");
  CHECK(rate(t, "npu3", "rail3") == 0);
  CHECK(rate(t, "npu3", "host0") == 63'015'384'615);
  CHECK(rate(t, "host1", "rail3") == 50'000'000'000);
  CHECK(t.node(t.find_node("host0")).can.store);
  // Up: from GPU 3 and from its card; down: to both.
  std::set<std::string> up;
  for (const SharedGroup& group : t.groups())
    if (group.name == "PCIe from npu3 to host0")
      for (const LinkId l : group.links)
        up.insert(t.node(t.link(l).from).name + ">" + t.node(t.link(l).to).name);
  CHECK(up == std::set<std::string>{"npu3>host0", "rail3>host0"});
  // A host that is there is taken.
  const Topology pcie = make_topology("dgx_a100_rail:2,gdr=off");
  CHECK(rate(pcie, "memory0", "rail3") == 25'000'000'000);
  CHECK_FALSE(has_node(pcie, "host0"));
  CHECK(make_topology("dgx_h100:2,gdr=on").fingerprint() ==
        make_topology("dgx_h100:2").fingerprint());
}

TEST_CASE("what isn't there is named with what is") {
  using Catch::Matchers::Contains;
  const std::array<std::array<const char*, 2>, 14> slips{{
      {"dgx_h100:2,lost-nic=9", "lost-nic=9: there is no network card 9: a node has 8, from 0"},
      {"dgx_h100:2,lost-nic=1@node7", "there is no node 7: the network has 2"},
      {"dgx_h100:2,lost-nic=rial3", "did you mean \"rail3\""},
      {"dgx_h100,lost-nic=1", "nothing that leads from node to node"},
      {"dgx_h100:2,lost-gpu=npu99", "unknown NPU \"npu99\""},
      {"dgx_h100:2,slow-link=npu3-rail4@50%", "there is no link npu3>rail4"},
      {"dgx_h100:2,slow-link=npu3-rail3", "isn't a-b@50%"},
      {"dgx_h100:2,slow-nic=3@0%", "take it away instead"},
      {"dgx_h100:2,fabric=leafspine", "unknown fabric \"leafspine\" (known: rails, switch, leaf"},
      {"dgx_spark:2,fabric=leaf_spine", "cables join its nodes"},
      {"mesh2d:4x4,wrap=z", "there is no dimension 2: the network has 2"},
      {"torus2d:4x4,wrap=x", "wrapped already"},
      {"mesh2d:4x4,lost-nvlink=0", "unknown model of GPU"},
      {"dgx_h100:2,gdr=maybe", "neither on nor off"},
  }};
  for (const auto& [text, words] : slips) {
    INFO(text);
    CHECK_THROWS_WITH(make_topology(text), Contains(words));
  }
}

/// What leaves a node at most: each of its links by itself, but those of a shared group together.
std::int64_t rate_out(const Topology& t, const std::string& node) {
  std::int64_t sum = 0;
  std::set<std::uint32_t> counted;
  for (const LinkId l : t.out_links(t.find_node(node))) {
    if (t.groups_of(l).empty()) sum += t.link(l).bandwidth.bytes_per_second;
    for (const std::uint32_t g : t.groups_of(l))
      if (counted.insert(g).second) sum += t.groups()[g].bandwidth.bytes_per_second;
  }
  return sum;
}

TEST_CASE("a GPU without links of its own has one slot, for its peers, its card and its host") {
  for (const char* text : {"l40s:2", "l40s:2,nics=8,gdr=off", "l40s:2,pcie-lanes=16"}) {
    INFO(text);
    const Topology t = make_topology(text);
    const auto links = t.out_links(t.find_node("npu0"));
    CHECK(links.size() == 2);
    CHECK(std::ranges::any_of(t.groups(), [&](const SharedGroup& group) {
      return group.bandwidth.bytes_per_second == 31'507'692'308 && // 16 lanes of PCIe 4
             std::ranges::all_of(links, [&](LinkId l) {
               return std::ranges::find(group.links, l) != group.links.end();
             });
    }));
  }
}

TEST_CASE("a leaf goes up with what its cards carry, however many GPUs share one") {
  // Four cards of 12.5 GB/s, each of two GPUs.
  CHECK(rate_out(make_topology("p4d:2,fabric=leaf_spine:2:1"), "leaf0") ==
        50'000'000'000 + 25'000'000'000); // down, and up
}

TEST_CASE("several nodes are lost at once, by the numbers that they have") {
  const Topology left = make_topology("dgx_h100:4,lost-node=1+3");
  CHECK(left.npu_count() == 16);
  CHECK(left.fingerprint() == make_topology("dgx_h100:4,lost-node=3+1").fingerprint());
}

} // namespace what_ifs_test
