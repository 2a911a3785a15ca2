// The text form: normal form, removals, and every way to get it wrong.
#include "topologies/list.hpp"

#include "sim/error.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

namespace text_form_test {

using namespace tutti;

TEST_CASE("a topology is named by its text in normal form") {
  CHECK(make_topology("ring:8").name() == "ring:8");
  CHECK(make_topology(" mesh2d : 4 x 3 , latency = 500ns , bandwidth=100000MB/s").name() ==
        "mesh2d:4x3,bandwidth=100GB/s,latency=500ns");
  CHECK(make_topology("ring:8,directions=2").name() == "ring:8");
  CHECK(make_topology("ring:8,without-link=npu0>npu1 + npu4 > npu5,directions=1,without=npu3+npu6")
            .name() == "ring:8,directions=1,without=npu3+npu6,without-link=npu0>npu1+npu4>npu5");
}

TEST_CASE("the name makes the same topology again") {
  for (const std::string text :
       {"torus2d:4x3,directions=1", "rfs:2x3x4,bandwidth=200GB/s+12.5GB/s+1GiB/s,latency=1us",
        "dragonfly:4x5,bandwidth=400GB/s+200GB/s", "mesh2d:4x4,latency=1us+2us,without=npu5",
        "multi_rail:4x2x2,without-link=npu0>switch0", "dgx1", "dgx_a100,without=npu7+nvswitch0",
        "dgx_a100_rail:2,links=pcie,memory=switch,latency=1us", "random:9,degree=3,seed=5",
        "teccl_internal:4x3,switch=copy,bandwidth=100GB/s+25GB/s",
        "mesh2d:4x4,without=npu5,fail-links=10%", "dgx1,fail-links=2,fail-seed=7"}) {
    INFO(text);
    const Topology first = make_topology(text);
    const Topology again = make_topology(first.name());
    CHECK(again.name() == first.name());
    CHECK(again.fingerprint() == first.fingerprint());
  }
}

TEST_CASE("without takes nodes and their links away") {
  const Topology t = make_topology("mesh2d:3x3,without=npu4");
  CHECK(t.npu_count() == 8);
  CHECK(t.link_count() == 24 - 8); // the middle NPU has four neighbours
  CHECK(t.node(NodeId{4}).name == "npu5");
  CHECK(t.coordinate(NodeId{4})[0] == 2);
  const Topology no_switch = make_topology("two_level_switch:2x2,without=switch0+npu3");
  CHECK(no_switch.npu_count() == 3);
  CHECK(no_switch.node_count() == 3 + 3);
}

TEST_CASE("without-link takes one direction of a link away, or both") {
  const Topology t = make_topology("ring:4,without-link=npu0>npu1");
  CHECK(t.link_count() == 7);
  CHECK(t.out_links(NodeId{0}).size() == 1);
  CHECK(t.in_links(NodeId{0}).size() == 2);
  const std::string both = "ring:4,without-link=npu0>npu1+npu1>npu0";
  CHECK(make_topology(both).link_count() == 6);
  CHECK(make_topology("ring:4,without-link=npu0-npu1").name() == both);
}

TEST_CASE("fail-links takes cables away, both directions of each") {
  const Topology whole = make_topology("mesh2d:5x5"), t = make_topology("mesh2d:5x5,fail-links=7");
  CHECK(t.link_count() == whole.link_count() - 14);
  for (const Link& link : t.links()) {
    const auto back = t.out_links(link.to);
    CHECK(
        std::any_of(back.begin(), back.end(), [&](LinkId l) { return t.link(l).to == link.from; }));
  }
  CHECK(make_topology("mesh2d:5x5,fail-links=5%").link_count() == 80 - 4); // 2 of 40 cables
  CHECK(make_topology("mesh2d:5x5,fail-links=6%").link_count() == 80 - 6); // 2.4, rounded up
  CHECK(make_topology("mesh2d:5x5,fail-links=0").fingerprint() == whole.fingerprint());
  CHECK(make_topology("mesh2d:5x5,fail-links=7,fail-seed=1").fingerprint() == t.fingerprint());
  CHECK(make_topology("mesh2d:5x5,fail-links=7,fail-seed=2").fingerprint() != t.fingerprint());
  CHECK(make_topology("mesh2d:5x5,fail-links=7").name() == "mesh2d:5x5,fail-links=7");
}

TEST_CASE("fail-links never puts an NPU out of reach") {
  // A ring of 6 can lose one cable and is a line then; 9 of the 24 cables of a 4x4 mesh may go,
  // whichever: a tree of 15 is left.
  CHECK(make_topology("ring:6,fail-links=1").link_count() == 10);
  for (const std::string seed : {"1", "2", "3", "4"})
    CHECK(make_topology("mesh2d:4x4,fail-links=9,fail-seed=" + seed).link_count() == 2 * 15);
  CHECK_THROWS_WITH(make_topology("mesh2d:4x4,fail-links=10"),
                    ContainsSubstring("fail-links=10: of 24 cables, any more than 9 failures would "
                                      "put an NPU out of reach"));
  // One direction of a ring: each link is a cable of its own, and needed.
  CHECK_THROWS_WITH(make_topology("ring:4,directions=1,fail-links=1"),
                    ContainsSubstring("of 4 cables, any more than 0 failures"));
  // Parallel links are different cables: DGX-1 has two between some GPUs.
  CHECK(make_topology("dgx1,fail-links=1").link_count() == make_topology("dgx1").link_count() - 2);
}

TEST_CASE("a path is a file, and nodes can be taken from it, too") {
  const std::string file = "text_form_test.toml";
  std::ofstream(file) << "npus = 3\n[defaults]\nbandwidth = \"1GB/s\"\nlatency = \"1us\"\n"
                         "[[links]]\nbetween = [[0, 1], [0, 1], [1, 2]]\n";
  CHECK(make_topology(file).name() == "text_form_test");
  CHECK(make_topology("./" + file).link_count() == 6);
  const Topology t = make_topology(file + ",without-link=npu0>npu1");
  CHECK(t.link_count() == 4); // both parallel links in that direction
  CHECK(t.name() == "text_form_test,without-link=npu0>npu1");
  CHECK_THROWS_WITH(
      make_topology(file + ",nics=8"),
      "topology \"text_form_test.toml,nics=8\": unknown key \"nics\" (known: "
      "bandwidth, latency, without, without-link, fail-npus, fail-links, fail-seed, "
      "unwind, wrap, fabric, "
      "lost-nic, slow-nic, lost-gpu, lost-nvlink, lost-node, slow-link, pcie-lanes, gdr)");
  std::ofstream(file) << "npus = 3\nnpsu = 4\n";
  CHECK_THROWS_WITH(make_topology(file), ContainsSubstring("text_form_test.toml:2:1: unknown key"));
  std::remove(file.c_str());
  CHECK_THROWS_WITH(make_topology("no/such/file"), ContainsSubstring("no/such/file: cannot read"));
}

TEST_CASE("an unknown topology is answered with the families and machines") {
  CHECK_THROWS_WITH(make_topology("rign:8"),
                    ContainsSubstring("unknown topology \"rign\" (known: ring, fully_connected, "
                                      "mesh2d, ") &&
                        ContainsSubstring("dgx1, ") &&
                        ContainsSubstring("did you mean \"ring\"?)"));
  CHECK_THROWS_WITH(make_topology("dgx"), ContainsSubstring("did you mean \"dgx1\"?"));
  CHECK_THROWS_WITH(make_topology(""), ContainsSubstring("unknown topology \"\""));
  CHECK_THROWS_WITH(make_topology("dgx1:8"), "topology \"dgx1:8\": a machine takes no numbers");
}

TEST_CASE("wrong numbers") {
  const auto message = [](const std::string& text, const std::string& words) {
    INFO(text);
    CHECK_THROWS_WITH(make_topology(text), "topology \"" + text + "\": " + words);
  };
  message("mesh2d:8", "needs 2 numbers, found 1 (mesh2d takes: columns x rows)");
  message("ring", "needs 1 number, found 0 (ring takes: NPUs)");
  message("ring:", "needs 1 number, found 0 (ring takes: NPUs)");
  message("ring:4x4", "needs 1 number, found 2 (ring takes: NPUs)");
  message("ring:1", "needs at least 2 NPUs (ring takes: NPUs)");
  message("mesh2d:1x1", "needs at least 2 NPUs (mesh2d takes: columns x rows)");
  message("ring:0", "number 0 is out of range (1 .. 1000000)");
  message("ring:-4", "number -4 is out of range (1 .. 1000000)");
  message("ring:four", "number \"four\" is not a whole number");
  message("mesh2d:4xx4", "\"4xx4\" are no numbers with x between them");
  message("ring:99999999999999999999",
          "number 99999999999999999999 is out of range (1 .. 1000000)");
  message("mesh2d:1001x1000", "has more than 1000000 NPUs (mesh2d takes: columns x rows)");
  message("mesh3d:1000000x1000000x1000000",
          "has more than 1000000 NPUs (mesh3d takes: x, y, z extents)");
  message("hypercube:20", "has more than 1000000 NPUs (hypercube takes: dimensions)");
  message("hypercube:1000000", "has more than 1000000 NPUs (hypercube takes: dimensions)");
  message("fat_tree:1000000",
          "has more than 1000000 NPUs (fat_tree takes: ports per switch (even))");
  message("fat_tree:160", "has more than 1000000 NPUs (fat_tree takes: ports per switch (even))");
  message("fat_tree:5", "5 is not even (fat_tree takes: ports per switch (even))");
  // 7072 * 7071 = 50,006,112
  message("fully_connected:7072",
          "has 50006112 links, more than 50000000 (fully_connected takes: NPUs)");
  message("dragonfly:2x20000", "has 400020000 links, more than 50000000 "
                               "(dragonfly takes: NPUs per group x groups)");
  message("teccl_internal:1x4", "a chassis needs at least 2 GPUs "
                                "(teccl_internal takes: GPUs per chassis x chassis)");
  message("teccl_internal:4", "needs 2 numbers, found 1 "
                              "(teccl_internal takes: GPUs per chassis x chassis)");
  message("teccl_internal:4x2,switch=sharp",
          "unknown value of switch \"sharp\" (known: forward, copy) "
          "(teccl_internal takes: GPUs per chassis x chassis)");
  message("teccl_internal:4x2,directions=1", "directions=1 needs a dimension that is a ring "
                                             "(teccl_internal takes: GPUs per chassis x chassis)");
  message("multi_rail:4x2x5", "5 NICs for 4 GPUs (give 1 .. 4) "
                              "(multi_rail takes: GPUs per node x nodes [x NICs per node])");
}

TEST_CASE("wrong options") {
  const auto message = [](const std::string& text, const std::string& words) {
    INFO(text);
    CHECK_THROWS_WITH(make_topology(text),
                      ContainsSubstring("topology \"" + text + "\": " + words));
  };
  message(
      "ring:8,bandwith=1GB/s",
      "unknown key \"bandwith\" (known: bandwidth, latency, "
      "directions, without, without-link, fail-npus, fail-links, fail-seed, unwind, wrap, fabric, "
      "lost-nic, slow-nic, lost-gpu, lost-nvlink, lost-node, slow-link, pcie-lanes, gdr; did you "
      "mean \"bandwidth\"?)");
  message("ring:8,bandwidth", "\"bandwidth\" is not key=value");
  message("ring:8,bandwidth=", "\"bandwidth=\" is not key=value");
  message("ring:8,", "\"\" is not key=value");
  message("ring:8,latency=1us,latency=2us", "key \"latency\" is given twice");
  message("ring:8,bandwidth=50", "bandwidth \"50\" has no unit");
  message("ring:8,bandwidth=50GB", "bandwidth \"50GB\" has an unknown unit \"GB\"");
  message("ring:8,bandwidth=0GB/s", "bandwidth \"0GB/s\" must be positive");
  message("ring:8,latency=-1us", "time \"-1us\" is negative");
  message("ring:8,latency=nan", "time \"nan\" is not a number");
  message("ring:8,bandwidth=1GB/s+2GB/s",
          "2 values of bandwidth for 1 dimension (give 1) (ring takes: NPUs)");
  message("mesh3d:2x2x2,latency=1us+2us", "2 values of latency for 3 dimensions (give 1 or 3)");
  message("ring:8,directions=3", "directions 3 is out of range (1 .. 2)");
  for (const std::string text :
       {"mesh2d:3x3", "fully_connected:4", "switch:4", "hypercube:3", "two_level_switch:2x2",
        "dragonfly:2x3", "fat_tree:4", "k_ary_tree:2x3", "multi_rail:2x2"})
    message(text + ",directions=1", "directions=1 needs a dimension that is a ring");
  message("ring:3,without=npu3", "unknown node \"npu3\" (known: npu0, npu1, npu2");
  message("ring:3,without=npu0+npu1+npu2", "a topology needs at least one node");
  message("ring:5,without-link=npu0>npu2", "there is no link npu0>npu2");
  message("ring:5,without-link=npu0_npu1",
          "\"npu0_npu1\" is not a link (as in npu0>npu1, or npu0-npu1)");
  message("ring:5,directions=1,without-link=npu0-npu1", "there is no link npu1>npu0");
  message("ring:5,without-link=npu0>npu9", "unknown node \"npu9\"");
  message("ring:5,fail-links=many", "fail-links \"many\" is not a whole number");
  message("ring:5,fail-links=6", "fail-links 6 is out of range (0 .. 5)");
  message("ring:5,fail-links=101%", "fail-links 101 is out of range (0 .. 100)");
  message("ring:5,fail-seed=3", "fail-seed is given, but neither fail-npus nor fail-links");
  message("ring:5,fail-npus=6", "fail-npus 6 is out of range (0 .. 5)");
  message("ring:5,fail-npus=5",
          "fail-npus=5: of 5 NPUs, any more than 4 failures would put an NPU out of reach");
  message("ring:5,without-link=npu0>npu1+npu2>npu1,fail-links=0",
          "fail-links=0: some NPU is out of another's reach already");
  message("dgx_a100_rail:2,links=none",
          "unknown value of links \"none\" (known: all, nvlink, pcie) "
          "(dgx_a100_rail takes: servers of 8 GPUs)");
  message("ring:5,links=all", "unknown key \"links\"");
  message("random:5,degree=5", "degree 5 is out of range (2 .. 4)");
  message("random:5,latency=1us+2us", "2 values of latency for 1 dimension (give 1)");
}

TEST_CASE("NPUs that fail are drawn, and none is one that others need") {
  const Topology left = make_topology("fully_connected:8,fail-npus=3");
  CHECK(left.npu_count() == 5);
  CHECK(left.link_count() == 20);
  CHECK(left.name() == "fully_connected:8,fail-npus=3");
  const auto names = [](const std::string& text) {
    const Topology topology = make_topology(text);
    std::vector<std::string> names;
    for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
      names.push_back(topology.node(NodeId{n}).name);
    return names;
  };
  CHECK(names("fully_connected:8,fail-npus=37%") == names("fully_connected:8,fail-npus=3"));
  CHECK(names("fully_connected:8,fail-npus=3,fail-seed=2") !=
        names("fully_connected:8,fail-npus=3"));
  // Only the ends of a line can fail, whatever is drawn.
  for (int seed = 1; seed <= 5; ++seed) {
    const std::vector<std::string> line =
        names("mesh2d:6x1,fail-npus=2,fail-seed=" + std::to_string(seed));
    for (std::size_t i = 1; i < line.size(); ++i)
      CHECK(std::stoi(line[i].substr(3)) == std::stoi(line[i - 1].substr(3)) + 1);
    CHECK(line.size() == 4);
  }
  CHECK(make_topology("switch:4,fail-npus=1,fail-links=0").npu_count() == 3);
}

TEST_CASE("a family called directly refuses what it can't build") {
  for (const TopologyRow& row : topology_families()) {
    INFO(row.name);
    CHECK_THROWS_AS(row.build(TopologySpec{}), InputError);
    TopologySpec negative;
    negative.shape = {-2};
    CHECK_THROWS_AS(row.build(negative), InputError);
    negative.shape = {-2, 4};
    CHECK_THROWS_AS(row.build(negative), InputError);
    negative.shape = {2, 4, -1};
    CHECK_THROWS_AS(row.build(negative), InputError);
  }
}

} // namespace text_form_test
