// Topologies from TOML: what each key does, and the message of every mistake.
#include "topologies/list.hpp"

#include "sim/error.hpp"
#include "sim/random.hpp"
#include "tests/catch.hpp"
#include "tests/paths.hpp"
#include "tests/refusals.hpp"
#include "topologies/export/list.hpp"

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace topology_file_test {

using namespace tutti;

namespace {

const std::string defaults = "[defaults]\nbandwidth = \"10GB/s\"\nlatency = \"1us\"\n";

Topology parsed(const std::string& text) { return parse_topology(text, "dir/t.toml"); }

/// Two NPUs, a switch, and `text`, which starts at line 8.
Topology with_switch(const std::string& text) {
  return parsed("npus = 2\n" + defaults + "[[nodes]]\nname = \"sw\"\nkind = \"switch\"\n" + text);
}

/// The same with a link, and `text` from line 10.
Topology with_link(const std::string& text) {
  return with_switch("[[links]]\nbetween = [[0, 1], [\"npu0\", \"sw\"], [0, 1]]\n" + text);
}

} // namespace

TEST_CASE("nodes, kinds and abilities") {
  const Topology t = parsed(R"(
name = "mixed"
note = "by hand"
npus = 2
[[nodes]]
name = "gpu"
kind = "npu"
count = 2
reduce = false
reduce_rate = "1TB/s"
[[nodes]]
name = "sw"
kind = "switch"
copy = true
[[nodes]]
name = "dram"
kind = "memory"
count = 1
)");
  CHECK(t.name() == "mixed");
  REQUIRE(t.node_count() == 6);
  CHECK(t.npu_count() == 4);
  CHECK(t.node(NodeId{1}).name == "npu1");
  CHECK(t.node(NodeId{3}).name == "gpu1");
  CHECK(t.node(NodeId{3}).can == Abilities{true, true, false});
  CHECK(t.node(NodeId{3}).reduce_rate == Bandwidth{1'000'000'000'000});
  CHECK(t.node(NodeId{4}).name == "sw");
  CHECK(t.node(NodeId{4}).kind == NodeKind::switching);
  CHECK(t.node(NodeId{4}).can == Abilities{false, true, false});
  CHECK(t.node(NodeId{5}).name == "dram0");
  CHECK(t.node(NodeId{5}).kind == NodeKind::memory);
  CHECK(t.node(NodeId{5}).can == Abilities{true, true, false});
}

TEST_CASE("the file's name stands in for a missing name") {
  CHECK(parsed("npus = 1").name() == "t");
}

TEST_CASE("links: both directions, one, fans and pairs") {
  const Topology t = with_switch(R"(
[[links]]
from = "npu0"
to = "sw"
[[links]]
from = 1
to = ["sw", "npu0"]
bandwidth = "5GB/s"
latency = "0s"
directed = true
[[links]]
from = [0, 1]
to = [1, "sw"]
directed = true
[[links]]
from = ["npu0", "npu1"]
to = "sw"
directed = true
)");
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> expected = {
      {0, 2}, {2, 0}, {1, 2}, {1, 0}, {0, 1}, {1, 2}, {0, 2}, {1, 2}};
  REQUIRE(t.link_count() == expected.size());
  for (std::uint32_t l = 0; l < t.link_count(); ++l) {
    CHECK(t.link(LinkId{l}).from == NodeId{expected[l].first});
    CHECK(t.link(LinkId{l}).to == NodeId{expected[l].second});
  }
  CHECK(t.link(LinkId{1}).bandwidth == Bandwidth{10'000'000'000});
  CHECK(t.link(LinkId{1}).latency == Time{1'000'000});
  CHECK(t.link(LinkId{3}).bandwidth == Bandwidth{5'000'000'000});
  CHECK(t.link(LinkId{3}).latency == Time{0});
  CHECK(t.link(LinkId{0}).dimension == -1);
}

TEST_CASE("a group holds every link between its pairs, in that direction") {
  // Links: 0>1, 1>0, 0>sw, sw>0, 0>1, 1>0.
  const Topology t = with_link("[[groups]]\nname = \"bus\"\nbandwidth = \"8GB/s\"\n"
                               "links = [[0, 1], [\"sw\", \"npu0\"]]\n");
  REQUIRE(t.groups().size() == 1);
  CHECK(t.groups()[0].name == "bus");
  CHECK(t.groups()[0].links == std::vector<LinkId>{LinkId{0}, LinkId{4}, LinkId{3}});
  CHECK(t.effective_bandwidth(LinkId{4}) == Bandwidth{8'000'000'000});
  CHECK(t.effective_bandwidth(LinkId{1}) == Bandwidth{10'000'000'000});
}

TEST_CASE("coordinates: given, or numbered through") {
  const Topology numbered = parsed("npus = 6\nshape = [3, 2]\n" + defaults +
                                   "[[links]]\nfrom = 0\nto = 3\ndimension = 1\n");
  CHECK(numbered.coordinate(NodeId{4})[0] == 1);
  CHECK(numbered.coordinate(NodeId{4})[1] == 1);
  CHECK(numbered.link(LinkId{1}).dimension == 1);

  const Topology given = parsed("shape = [2, 5]\n[[nodes]]\nname = \"a\"\nkind = \"npu\"\n"
                                "coordinates = [1, 4]\n[[nodes]]\nname = \"b\"\nkind = \"npu\"\n"
                                "count = 2\ncoordinates = [[0, 0], [1, 0]]\n");
  CHECK(given.coordinate(NodeId{0})[1] == 4);
  CHECK(given.coordinate(NodeId{2})[0] == 1);
  CHECK(given.shape().size() == 2);
}

TEST_CASE("the example at the head of topology_file.cpp is a topology") {
  std::ifstream source(TUTTI_SOURCE_DIR "/topologies/topology_file.cpp");
  std::string text, line;
  std::getline(source, line); // the title
  while (std::getline(source, line) && line.starts_with("//")) text += line.substr(2) + "\n";
  const Topology t = parsed(text);
  CHECK(t.name() == "two GPUs");
  CHECK(t.npu_count() == 2);
  CHECK(t.link_count() == 8);
  CHECK(t.coordinate(NodeId{1})[0] == 1);
  CHECK(t.coordinate(t.find_node("bridge"))[0] == 0);
  CHECK(t.groups()[0].links == std::vector<LinkId>{LinkId{0}, LinkId{2}});
}

TEST_CASE("a ring by hand is the ring of the family") {
  const Topology by_hand = parsed("npus = 4\nshape = [4]\n" + defaults +
                                  "[[links]]\ndirected = true\ndimension = 0\n"
                                  "between = [[0, 1], [1, 2], [2, 3], [3, 0], "
                                  "[0, 3], [1, 0], [2, 1], [3, 2]]\n");
  CHECK(by_hand.fingerprint() ==
        make_topology("ring:4,bandwidth=10GB/s,latency=1us").fingerprint());
}

TEST_CASE("mistakes at the top of a file") {
  const RefusalRows rows = {
      {"npus = 2\nnoded = 3",
       "2:1: unknown key \"noded\" (known: name, note, npu, npus, shape, "
       "defaults, template, nodes, links, groups; did you mean \"nodes\"?) ..."},
      {"name = 5", "1:8: expected a string, found the integer 5"},
      {"note = 5", "1:8: expected a string, found the integer 5"},
      {"npus = 0", "1:8: 0 is out of range (1 .. 1000000)"},
      {"npus = 1000001", "1:8: 1000001 is out of range (1 .. 1000000)"},
      {"npus = 'two'", "1:8: expected an integer, found the string \"two\""},
      {"", "1:1: a topology needs at least one node"},
      {"npus = 2\n[defaults]\nlatnecy = '1us'", "3:1: unknown key \"latnecy\" ..."},
      {"npus = 2\ndefaults = 1", "2:12: expected a table, found the integer 1"},
      {"npus = 2\n[[links]", "2: ..."},
  };
  check_whole_refusals(parsed, rows, "dir/t.toml:");
}

TEST_CASE("mistakes in nodes") {
  const RefusalRows rows = {
      {"[[nodes]]\nname = 'a'\nkind = 'swich'",
       R"(3:8: unknown node kind "swich" (known: npu, switch, memory; did you mean "switch"?))"},
      {"[[nodes]]\nname = 'a'", "1:1: this table needs a key \"kind\" (it has: name)"},
      {"[[nodes]]\nkind = 'npu'", "1:1: this table needs a key \"name\" (it has: kind)"},
      {"[[nodes]]\nname = 'a'\nkidn = 'npu'",
       R"(3:1: unknown key "kidn" ... did you mean "kind"? ...)"},
      {"[[nodes]]\nname = 'a>b'\nkind = 'npu'",
       "2:8: node name \"a>b\" may only have letters, digits and _ - . :"},
      {"[[nodes]]\nname = ''\nkind = 'npu'", "2:8: node name \"\" ..."},
      {"npus = 2\n[[nodes]]\nname = 'npu1'\nkind = 'npu'", "3:8: node \"npu1\" is named twice"},
      {"[[nodes]]\nname = 's'\nkind = 'switch'\n[[nodes]]\nname = 'a'\nkind = 'npu'",
       "5:8: NPU \"a\" comes after a switch or memory; NPUs come first"},
      {"npus = 1000000\n[[nodes]]\nname = 'a'\nkind = 'npu'", "3:8: more than 1000000 nodes"},
      {"[[nodes]]\nname = 'a'\nkind = 'npu'\ncount = 0", "4:9: 0 is out of range (1 .. 1000000)"},
      {"[[nodes]]\nname = 'a'\nkind = 'npu'\nreduce_rate = 5", "4:15: expected a bandwidth ..."},
      {"[[nodes]]\nname = 'a'\nkind = 'npu'\nstore = 1",
       "4:9: expected true or false, found the integer 1"},
  };
  check_whole_refusals(parsed, rows, "dir/t.toml:");
}

TEST_CASE("mistakes in shape and coordinates") {
  CHECK_THROWS_WITH(parsed("npus = 2\nshape = []"),
                    "dir/t.toml:2:9: a shape needs at least one extent");
  CHECK_THROWS_WITH(parsed("npus = 2\nshape = [0]"),
                    "dir/t.toml:2:10: 0 is out of range (1 .. 1000000)");
  std::string ones = "1";
  for (int i = 0; i < 64; ++i) ones += ", 1";
  CHECK_THROWS_WITH(parsed("npus = 1\nshape = [" + ones + "]"),
                    "dir/t.toml:2:9: a shape has at most 64 extents");
  CHECK_THROWS_WITH(parsed("npus = 5\nshape = [3, 2]"),
                    "dir/t.toml:2:9: 5 NPUs don't fill the shape 3x2");
  CHECK_THROWS_WITH(parsed("npus = 5\nshape = [1000000, 1000000, 1000000, 1000000]"),
                    ContainsSubstring("5 NPUs don't fill the shape"));
  const std::string node = "[[nodes]]\nname = \"a\"\nkind = \"npu\"\n";
  const RefusalRows rows = {
      {node + "coordinates = [0]", "4:15: coordinates need a \"shape\" at the top"},
      {"shape = [2]\n" + node + "coordinates = [2]", "5:15: coordinates (2) outside the shape 2"},
      {"shape = [2]\n" + node + "coordinates = [0, 0]",
       "5:15: coordinates (0,0) outside the shape 2"},
      {"shape = [2]\n" + node + "count = 2\ncoordinates = [[0]]",
       "6:15: 1 lists of coordinates for 2 nodes"},
      {"shape = [2]\n" + node + "coordinates = [0]\n[[nodes]]\nname = 'b'\nkind = 'npu'",
       "1:1: NPU \"b\" has no coordinates"},
  };
  check_whole_refusals(parsed, rows, "dir/t.toml:");
}

TEST_CASE("mistakes in links") {
  const RefusalRows rows = {
      {"[[links]]\nfrom = 'npu0'\nto = 'sw1'",
       R"(dir/t.toml:10:6: unknown node "sw1" (known: npu0, npu1, sw; did you mean "sw"?))"},
      {"[[links]]\nfrom = 0\nto = 3", "dir/t.toml:10:6: 3 is out of range (0 .. 2)"},
      {"[[links]]\nfrom = 0\nto = 0.5", "dir/t.toml:10:6: expected a string, found the number 0.5"},
      {"[[links]]\nfrom = 0\nto = 1\nbandwith = '1GB/s'",
       "dir/t.toml:11:1: unknown key \"bandwith\" (known: for, between, from, to, bandwidth, "
       "latency, "
       "directed, dimension, part; did you mean \"bandwidth\"?)"},
  };
  check_whole_refusals(with_switch, rows);
  CHECK_THROWS_WITH(parsed("npus = 2\n[[links]]\nfrom = 0\nto = 1\nlatency = \"1us\""),
                    "dir/t.toml:2:1: this table needs a key \"bandwidth\" (it has: from, to, "
                    "latency)");
  CHECK_THROWS_WITH(parsed("npus = 2\n[[links]]\nfrom = 0\nto = 1\nbandwidth = \"1GB/s\""),
                    ContainsSubstring("dir/t.toml:2:1: this table needs a key \"latency\""));
  for (const std::string ends : {"from = 0", "to = 0", "", "from = 0\nto = 1\nbetween = [[0, 1]]",
                                 "from = 0\nbetween = [[0, 1]]"})
    CHECK_THROWS_WITH(with_switch("[[links]]\n" + ends),
                      "dir/t.toml:8:1: a link needs either \"from\" and \"to\", or \"between\"");
  const RefusalRows rows2 = {
      {"from = 0\nto = [1, 0]", "9:8: a link from \"npu0\" to itself"},
      {"from = [0, 1]\nto = [1]", "10:6: 1 nodes for 2 in \"from\""},
      {"between = [[0, 1, 2]]", "9:12: expected a pair of nodes"},
      {"from = 0\nto = 1\ndimension = 0", "11:13: a dimension needs a \"shape\" at the top"},
      {"from = 0\nto = 1\nbandwidth = '-1GB/s'", "11:13: bandwidth \"-1GB/s\" is negative"},
      {"from = 0\nto = 1\nlatency = '1'", "11:11: time \"1\" has no unit ..."},
  };
  check_whole_refusals([&](const std::string& more) { return with_switch("[[links]]\n" + more); },
                       rows2, "dir/t.toml:");
  CHECK_THROWS_WITH(
      parsed("npus = 2\nshape = [2]\n" + defaults + "[[links]]\nfrom = 0\nto = 1\ndimension = 1"),
      "dir/t.toml:9:13: 1 is out of range (0 .. 0)");
  CHECK_THROWS_WITH(parsed("[[links]]\nfrom = 0\nto = 1\nbandwidth = \"1GB/s\"\nlatency = \"0s\""),
                    "dir/t.toml:2:8: there are no nodes");
}

TEST_CASE("an unknown node in a large topology is answered with a few names") {
  CHECK_THROWS_WITH(parsed("npus = 100\n" + defaults + "[[links]]\nfrom = 0\nto = \"gpu\""),
                    ContainsSubstring("npu18, npu19, ...") && !ContainsSubstring("npu20"));
}

TEST_CASE("mistakes in groups") {
  const RefusalRows rows = {
      {"name = 'bus'\nbandwidth = '8GB/s'\nlinks = [[1, 'sw']]", "13:9: there is no link npu1>sw"},
      {"name = 'bus'\nbandwidth = '8GB/s'\nlinks = [[0, 1], ['npu0', 'npu1']]",
       "13:9: link npu0>npu1 is in group \"bus\" twice"},
      {"name = 'bus'\nbandwidth = '8GB/s'\nlinks = [[0, 1, 0], [0, 1]]",
       "13:9: link npu0>npu1 is in group \"bus\" twice"},
      {"name = 'bus'\nbandwidth = '8GB/s'\nlinks = [[0, 1, 9]]",
       "13:17: 9 is out of range (0 .. ..."},
      {"name = 'bus'\nbandwidth = '8GB/s'\nlinks = [[0]]",
       "13:10: expected a pair of nodes, and perhaps which of their links"},
      {"name = 'bus'\nbandwidth = '8GB/s'\nlinks = []", "13:9: a group needs at least one link"},
      {"name = 'bus'\nlinks = [[0, 1]]",
       "10:1: this table needs a key \"bandwidth\" (it has: name, links)"},
      {"name = 'bus'\nbandwidth = '8GB/s'",
       "10:1: this table needs a key \"links\" (it has: name, bandwidth)"},
      {"nmae = 'bus'",
       R"(11:1: unknown key "nmae" (known: for, name, links, bandwidth; did you mean "name"?))"},
  };
  check_whole_refusals([&](const std::string& more) { return with_link("[[groups]]\n" + more); },
                       rows, "dir/t.toml:");
}

TEST_CASE("a written network is the same again, whatever the order of a group's links") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    TopologyParts parts;
    parts.name = "t";
    const auto nodes = static_cast<std::uint32_t>(2 + random.below(3));
    for (std::uint32_t n = 0; n < nodes; ++n)
      parts.add_node({"n" + std::to_string(n), NodeKind::npu, {}, {}});
    for (std::uint64_t l = 0; l < 3 * nodes; ++l) { // many of them parallel
      const auto from = static_cast<std::uint32_t>(random.below(nodes));
      const auto to = static_cast<std::uint32_t>((from + 1 + random.below(nodes - 1)) % nodes);
      parts.add_link({NodeId{from}, NodeId{to}, Time{1000}, Bandwidth{1'000'000'000}});
    }
    for (std::uint32_t g = 0; g < 2; ++g) {
      std::vector<LinkId> all;
      for (std::uint32_t l = 0; l < parts.links.size(); ++l) all.emplace_back(l);
      random.shuffle(all);
      all.resize(1 + random.below(all.size()));
      parts.groups.push_back({"g" + std::to_string(g), std::move(all), Bandwidth{1'000'000'000}});
    }
    const Topology network(std::move(parts));
    INFO("seed " << seed << '\n' << topology_toml(network));
    const Topology again = parse_topology(topology_toml(network), "t.toml");
    CHECK(again.fingerprint() == network.fingerprint());
    for (std::size_t g = 0; g < 2; ++g) CHECK(again.groups()[g].links == network.groups()[g].links);
  }
}

} // namespace topology_file_test
