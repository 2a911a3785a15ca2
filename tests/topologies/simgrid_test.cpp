// Platforms of SimGrid: read by SimGrid itself, counted by hand; written, and the same again. Each
// file costs a process.
#include "sim/engines/simgrid/platform.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/refusals.hpp"
#include "tests/topologies/damaged.hpp"
#include "topologies/export/list.hpp"
#include "topologies/import/list.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace simgrid_test {

using namespace tutti;
using Catch::Matchers::StartsWith;

namespace {

const topologies::ForeignFormat& simgrid_format =
    *std::ranges::find(topologies::foreign_formats(), "simgrid", &topologies::ForeignFormat::name);

Topology read_platform(const std::string& text) {
  return topologies::read_foreign(simgrid_format, {text, "f", 1});
}

std::string platform_refusal(const std::string& text) {
  return message_of([&] { (void)read_platform(text); });
}

std::string platform(const std::string& body) {
  return "<?xml version='1.0'?>\n"
         "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\">\n" +
         body + "\n</platform>\n";
}

std::string hosts(const std::string& names) {
  std::string text;
  for (const char name : names) text += std::string("<host id=\"") + name + "\" speed=\"1Gf\"/>";
  return text + "\n";
}

/// Three hosts around a router, by one link each that both directions share.
const std::string star =
    platform("<zone id=\"z\" routing=\"Floyd\">\n" + hosts("abc") +
             "<router id=\"r\"/>\n"
             "<link id=\"la\" bandwidth=\"100Gbps\" latency=\"700ns\"/>\n"
             "<link id=\"lb\" bandwidth=\"1.5GBps\" latency=\"2us\"/>\n"
             "<link id=\"lc\" bandwidth=\"1KiBps\" latency=\"0\"/>\n"
             "<route src=\"a\" dst=\"r\"><link_ctn id=\"la\"/></route>\n"
             "<route src=\"b\" dst=\"r\"><link_ctn id=\"lb\"/></route>\n"
             "<route src=\"c\" dst=\"r\"><link_ctn id=\"lc\"/></route>\n</zone>");

std::string line_of(const Topology& network, std::string_view what) {
  for (const std::string& line : network.parts().assumed)
    if (line.starts_with(what)) return line;
  return "";
}

std::vector<std::string> link_texts(const Topology& network) {
  std::vector<std::string> texts;
  for (const Link& link : network.links())
    texts.push_back(network.node(link.from).name + " " + network.node(link.to).name + " " +
                    to_text(link.bandwidth) + " " + to_text(link.latency));
  return texts;
}

} // namespace

TEST_CASE("a star of shared links: a switch, two directions, and a group for each link") {
  const Topology network = read_platform(star);
  CHECK(network.npu_count() == 3);
  CHECK(network.node(NodeId{0}).name == "a");
  CHECK(network.node(NodeId{3}).name == "switch0");
  CHECK(network.node(NodeId{3}).can == Abilities{false, false, false});
  CHECK(link_texts(network) ==
        std::vector<std::string>{"a switch0 12.5GB/s 700ns", "switch0 a 12.5GB/s 700ns",
                                 "b switch0 1.5GB/s 2us", "switch0 b 1.5GB/s 2us",
                                 "c switch0 1KiB/s 0ps", "switch0 c 1KiB/s 0ps"});
  REQUIRE(network.groups().size() == 3);
  CHECK(network.groups()[0].name == "la");
  CHECK(network.groups()[0].links == std::vector{LinkId{0}, LinkId{1}});
  CHECK(network.groups()[0].bandwidth == Bandwidth{12'500'000'000});
  CHECK(line_of(network, "links that no route").empty());
}

TEST_CASE("split duplex links, clusters with a backbone, and zones") {
  // Each way has a link of its own: no groups.
  const Topology split = read_platform(platform(
      "<zone id=\"z\" routing=\"Full\">\n" + hosts("ab") +
      "<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>\n"
      "<link id=\"m\" bandwidth=\"2GBps\" latency=\"3us\" sharing_policy=\"SPLITDUPLEX\"/>\n"
      "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\" direction=\"UP\"/>"
      "<link_ctn id=\"m\" direction=\"DOWN\"/></route>\n</zone>"));
  CHECK(link_texts(split) == std::vector<std::string>{"switch0 a 1GB/s 1us", "a switch0 1GB/s 1us",
                                                      "switch0 b 2GB/s 3us",
                                                      "b switch0 2GB/s 3us"});
  CHECK(split.groups().empty());

  // A backbone that all routes take in one direction leads from one switch to another.
  const std::string cluster = "<cluster id=\"k\" prefix=\"n\" suffix=\".x\" radical=\"0-2\" "
                              "speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\" bb_bw=\"2GBps\" "
                              "bb_lat=\"5us\"/>";
  const Topology flat = read_platform(platform(cluster));
  CHECK(flat.npu_count() == 3);
  CHECK(flat.node(NodeId{2}).name == "n2.x");
  CHECK(flat.node_count() == 5);
  CHECK(flat.link_count() == 3 + 3 + 1);
  CHECK(flat.groups().empty());

  // Two such clusters behind a link that both directions share: it begins at a switch of each.
  const Topology zones = read_platform(
      platform("<zone id=\"w\" routing=\"Full\">\n"
               "<cluster id=\"k\" prefix=\"n\" suffix=\"\" radical=\"0-1\" speed=\"1Gf\" "
               "bw=\"1GBps\" lat=\"1us\" router_id=\"kr\"/>\n"
               "<cluster id=\"m\" prefix=\"o\" suffix=\"\" radical=\"0-1\" speed=\"1Gf\" "
               "bw=\"1GBps\" lat=\"1us\" router_id=\"mr\"/>\n"
               "<link id=\"wan\" bandwidth=\"10MBps\" latency=\"1ms\"/>\n"
               "<zoneRoute src=\"k\" dst=\"m\" gw_src=\"kr\" gw_dst=\"mr\"><link_ctn id=\"wan\"/>"
               "</zoneRoute>\n</zone>"));
  CHECK(zones.npu_count() == 4);
  CHECK(zones.node_count() == 6);
  CHECK(zones.link_count() == 8 + 2);
  REQUIRE(zones.groups().size() == 1);
  CHECK(zones.groups()[0].name == "wan");
}

TEST_CASE("routes that fit no graph of links are taken at their word") {
  // One link stands for a whole cloud.
  const std::string cloud = platform(
      "<zone id=\"z\" routing=\"Full\">\n" + hosts("abc") +
      "<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/>\n"
      "<link id=\"m\" bandwidth=\"2GBps\" latency=\"3us\" sharing_policy=\"FATPIPE\"/>\n"
      "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>\n"
      "<route src=\"b\" dst=\"c\"><link_ctn id=\"l\"/><link_ctn id=\"m\"/></route>\n"
      "<route src=\"a\" dst=\"c\" symmetrical=\"NO\"><link_ctn id=\"m\"/></route>\n"
      "<route src=\"c\" dst=\"a\" symmetrical=\"NO\"><link_ctn id=\"l\"/></route>\n</zone>");
  const Topology network = read_platform(cloud);
  CHECK(link_texts(network) == std::vector<std::string>{"a b 1GB/s 1us", "a c 2GB/s 3us",
                                                        "b a 1GB/s 1us", "b c 1GB/s 4us",
                                                        "c a 1GB/s 1us", "c b 1GB/s 4us"});
  REQUIRE(network.groups().size() == 1); // those of a fat pipe share nothing
  CHECK(network.groups()[0].links ==
        std::vector{LinkId{0}, LinkId{2}, LinkId{3}, LinkId{4}, LinkId{5}});
  CHECK_THAT(line_of(network, "links"), StartsWith("links: one for each route"));
}

TEST_CASE("what is wrong with a platform is told with its line") {
  const std::vector<SlipRow> rows = {
      {"100Gbps", "100Gxps", "f:7:1: SimGrid: unknown unit: Gxps"},
      {"Floyd", "Floid", "f: SimGrid: ..."},
      {"dst=\"r\"", "dst=\"q\"", "f:10:1: ..."},
      {"<router id=\"r\"/>", R"(<trace id="t" file="/x"/>)",
       "f:6:2: <trace> refers to another file, and only this one is read"},
      {"<router", "<include file=\"/etc/passwd\"/><router",
       "f:6:2: <include> refers to another file, and only this one is read"},
      {"latency=\"2us\"", "bandwidth_file=\"x\"",
       "f:8:2: bandwidth_file: networks that change by themselves aren't read"},
      {"dtd\"", "dtd\" [<!ENTITY a \"b\">]",
       "f:2:11: a DOCTYPE with declarations of its own (<!ENTITY) isn't read"},
      {"latency=\"2us\"", "sharing_policy=\"WIFI\"",
       "f:8:2: link \"lb\" is a wireless one, which Tutti has none of"},
      {"latency=\"2us\"", "latency=\"-2us\"", "f:8:2: latency \"-2us\": it is negative"},
      {"<zone", R"(<config><prop id="tracing" value="1"/></config><zone)",
       "f:4:10: the option \"tracing\" ..."},
      {"</zone>", "", "f:14: ..."},
      {"1KiBps", "0Bps", "f: link \"lc\" has a bandwidth of 0 B/s"},
  };
  check_slips(platform_refusal, star, rows);
  CHECK_THAT(platform_refusal(replaced(star, "<host id=\"b\"", "<host id=\"a\"")),
             StartsWith("f: SimGrid: ") && ContainsSubstring("'a'"));
  CHECK_THAT(platform_refusal(platform("<cluster id=\"k\" prefix=\"n\" suffix=\"\" "
                                       "radical=\"0-2000000\" speed=\"1Gf\" bw=\"1GBps\" "
                                       "lat=\"1us\"/>")),
             StartsWith("f: more than 2048 hosts"));
  CHECK_FALSE(topologies::is_simgrid("<platform>"));
  CHECK_FALSE(topologies::is_simgrid("{\"a\": \"<platform version='4'>\"}"));
  CHECK(topologies::is_simgrid(star));
}

TEST_CASE("counts that no int holds are told with their place and their value") {
  const auto refusal = [](const std::string& radical, const std::string& parameters) {
    return platform_refusal(platform("<cluster id=\"k\" prefix=\"n\" suffix=\"\" radical=\"" +
                                     radical + "\" speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\" " +
                                     "topology=\"FAT_TREE\" topo_parameters=\"" + parameters +
                                     "\"/>"));
  };
  const std::string good = "2;4,4;1,2;1,2";
  CHECK_THAT(refusal("0-15", "2;4294967295,4;1,2;1,2"),
             ContainsSubstring("topo_parameters \"2;4294967295,4;1,2;1,2\": 4294967295 is more "
                               "than 2147483647"));
  CHECK_THAT(refusal("0-4294967296", good), ContainsSubstring("radical \"0-4294967296\": "));
  // Whatever number is damaged, the answer names where and what.
  for (std::size_t at = 0; at < good.size(); ++at)
    if (good[at] >= '0' && good[at] <= '9')
      for (const char* other : {"x", "", "9999999999", "1.5", "0x4"}) {
        const std::string damaged = good.substr(0, at) + other + good.substr(at + 1);
        INFO(damaged);
        const std::string said = refusal("0-15", damaged);
        CHECK_THAT(said, StartsWith("f:") && ContainsSubstring("topo_parameters \"" + damaged));
      }
}

TEST_CASE("SimGrid is stopped where it doesn't end") {
  const std::string endless =
      platform("<zone id=\"z\" routing=\"Dijkstra\">\n" + hosts("ab") +
               "<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/>\n"
               "<route src=\"a\" dst=\"b\" symmetrical=\"NO\"><link_ctn id=\"l\"/></route></zone>");
  CHECK_THAT(message_of([&] { (void)load_simgrid_platform(endless, "f", true, 0.2); }),
             StartsWith("f: SimGrid took more than 0.2 s"));
  CHECK(read_platform(replaced(endless, "Dijkstra", "Floyd")).link_count() == 1);
}

TEST_CASE("a platform that Tutti has written is the same network again") {
  for (const char* spec :
       {"ring:5", "ring:4,directions=1", "torus3d:2x3x4", "fat_tree:4", "dgx2", "ndv2x2"}) {
    INFO(spec);
    const Topology network = make_topology(spec);
    const std::string text = topology_simgrid(network);
    CHECK(topologies::is_simgrid(text));
    const Topology again = read_platform(text);
    CHECK(again.fingerprint() == network.fingerprint());
    CHECK(topology_toml(again).substr(topology_toml(again).find("[[nodes]]")) ==
          topology_toml(network).substr(topology_toml(network).find("[[nodes]]")));
    CHECK(again.parts().shape == network.parts().shape);
  }

  // Odd values, and all that can stand in names and comments.
  TopologyParts parts;
  parts.name = "a--b-";
  parts.note = "-->\n<x>";
  parts.assumed = {"b: -"};
  parts.add_node({"a<&\">'", NodeKind::npu, {true, false, true}, Bandwidth{123}});
  parts.add_node({"b c", NodeKind::npu, {}, {}});
  parts.add_node({"network", NodeKind::memory, {true, true, false}, Bandwidth{7}});
  parts.add_duplex({NodeId{0}, NodeId{2}, Time{1}, Bandwidth{1'234'567'890'123}});
  parts.add_link({NodeId{2}, NodeId{1}, Time{999'999'999'999'999}, Bandwidth{1}});
  parts.groups.push_back({"g, \"h\"", {LinkId{2}, LinkId{0}}, Bandwidth{333'333'333'333}});
  const Topology odd{parts};
  const Topology again = read_platform(topology_simgrid(odd));
  CHECK(again.fingerprint() == odd.fingerprint());
  CHECK(again.groups()[0].name == "g, \"h\"");
  CHECK(again.groups()[0].links == std::vector{LinkId{2}, LinkId{0}});
  CHECK(platform_refusal(replaced(topology_simgrid(odd), "\"2 0\"", "\"2 1\"")) ==
        "f: link \"group0\": tutti.links are others than its group has");
  CHECK(again.node(NodeId{0}).name == "a_____");

  parts.add_link({NodeId{2}, NodeId{1}, Time{1}, Bandwidth{1}});
  CHECK(message_of([&] { (void)topology_simgrid(Topology(parts)); }) ==
        "two links lead from \"network\" to \"b c\": a platform of SimGrid has one route between "
        "two nodes");
}

TEST_CASE("SimGrid makes routes over several links of what is written") {
  const Topology network = make_topology("torus2d:4x4,latency=1us");
  const SimGridPlatform loaded = load_simgrid_platform(topology_simgrid(network), "f", true);
  REQUIRE(loaded.hosts.size() == 16);
  // NPU 0 to 5: one step in each dimension; to 10: two.
  CHECK(loaded.route(0, 5).size() == 2);
  CHECK(loaded.route_latency[10] == Approx(4e-6));
  for (const std::uint32_t link : loaded.route(0, 10)) CHECK(loaded.links[link].bandwidth == 50e9);
  // One way around alone, and a group in the route of each link.
  TopologyParts parts = make_topology("ring:4,directions=1").parts();
  parts.groups.push_back({"g", {LinkId{0}, LinkId{1}}, Bandwidth{5}});
  const SimGridPlatform ring = load_simgrid_platform(topology_simgrid(Topology(parts)), "f", true);
  CHECK(ring.route(0, 3).size() == 3 + 2);
  CHECK(ring.route(3, 0).size() == 1);
}

TEST_CASE("platforms are read beside other threads, too") {
  std::atomic<bool> over = false;
  std::thread other([&] {
    while (!over) std::this_thread::yield();
  });
  const std::string wrong = platform_refusal(replaced(star, "100Gbps", "100Gxps"));
  const std::uint64_t beside = read_platform(star).fingerprint();
  over = true;
  other.join();
  CHECK(wrong == "f:7:1: SimGrid: unknown unit: Gxps");
  CHECK(beside == read_platform(star).fingerprint());
}

TEST_CASE("damaged platforms are refused or read, and nothing else") {
  std::size_t refused = 0;
  for (const std::string& text : {star, topology_simgrid(make_topology("switch:2"))})
    refused += refused_when_damaged(text, " \n\"<>/='&;-x019", 30, read_if_known);
  CHECK(refused > 20);
}

TEST_CASE("SimGrid's own examples") {
  const std::filesystem::path folder =
      std::filesystem::path(TUTTI_SOURCE_DIR).parent_path() / "shared/data/topologies/simgrid";
  if (!std::filesystem::exists(folder)) {
    WARN("no platforms here: skipped");
    return;
  }
  const auto of = [&](const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(folder / name).rdbuf();
    return read_platform(text.str());
  };
  // 3 x 2 x 2: 12 rings' links of 3 both ways; in each dimension of 2, a link each way a pair.
  const Topology torus = of("cluster_torus.xml");
  CHECK(torus.npu_count() == 12);
  CHECK(torus.node_count() == 12);
  CHECK(torus.link_count() == 24 + 12 + 12);
  CHECK(torus.link(LinkId{0}).bandwidth == Bandwidth{125'000'000});
  CHECK(torus.link(LinkId{0}).latency == Time{50'000'000});
  CHECK(torus.groups().empty());
  CHECK(line_of(torus, "links that no route") == // loopbacks, and of pairs the other one's
        "links that no route between two hosts takes: 36 are left out");
  // 4 leaves of 4 hosts, 2 cores, 2 cables between each leaf and core.
  const Topology tree = of("cluster_fat_tree.xml");
  CHECK(tree.npu_count() == 16);
  CHECK(tree.node_count() == 16 + 6);
  CHECK(tree.link_count() == 2 * (16 + 16));
  // 3 groups of 4 chassis of 5 routers of 2 hosts: host links; in chassis 10 pairs, in groups 5
  // times 6, and one link between two groups; each host's limiter is taken both ways, each router's
  // one way, but both ways in the 6 that end links between groups.
  const Topology dragonfly = of("cluster_dragonfly.xml");
  CHECK(dragonfly.npu_count() == 120);
  CHECK(dragonfly.link_count() == 2 * (120 + 12 * 10 + 3 * 30 + 3) + 2 * 120 + 60 + 6);
  CHECK(dragonfly.groups().size() == 120 + 6);
  // Clouds: 42 routes.
  const Topology small = of("small_platform.xml");
  CHECK(small.npu_count() == 7);
  CHECK(small.link_count() == 42);
  CHECK(small.node_count() == 7);
  CHECK(small.groups().size() == 23);
}

} // namespace simgrid_test
