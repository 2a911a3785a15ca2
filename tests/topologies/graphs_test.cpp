// Networks as general graphs: what DOT and GraphML say, counted by hand; what is wrong, with its
// place; and that Tutti's own graphs come back as they were.
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/refusals.hpp"
#include "tests/topologies/damaged.hpp"
#include "topologies/export/list.hpp"
#include "topologies/import/list.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphs_test {

using namespace tutti;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

const topologies::ForeignFormat& dot_format =
    *std::ranges::find(topologies::foreign_formats(), "dot", &topologies::ForeignFormat::name);
const topologies::ForeignFormat& graphml_format =
    *std::ranges::find(topologies::foreign_formats(), "graphml", &topologies::ForeignFormat::name);

Topology read_graph(const std::string& text) {
  const bool is_dot = topologies::is_dot(text);
  CHECK(topologies::is_graphml(text) != is_dot);
  return topologies::read_foreign(is_dot ? dot_format : graphml_format, {text, "f"});
}

std::string graph_refusal(const std::string& text) {
  return message_of([&] { (void)read_graph(text); });
}

double total_bandwidth(const Topology& network) {
  double total = 0;
  for (const Link& link : network.links())
    total += static_cast<double>(link.bandwidth.bytes_per_second);
  return total;
}

std::vector<std::string> node_names(const Topology& network) {
  std::vector<std::string> names;
  for (const Node& node : network.nodes()) names.push_back(node.name);
  return names;
}

const std::string pod =
    "// a pod\n"
    "strict graph \"my pod\" {\n"
    "  rankdir=LR; node [fontsize=10, color=\"#aa0000\"];\n"
    "  edge [bandwidth=\"400Gbps\"];\n"
    "  gpu10 [label=<<b>GPU</b> 10>]; gpu2;\n"
    "  tor0 -- {gpu10 gpu2} [latency_us=1.5]\n"
    "  gpu10:nic:n -- gpu2:nic [bandwidth=\"50\" + \"GB/s\", latency=\"300 ns\",\n"
    "                           weight=3]; /* beside */\n"
    "  subgraph cluster_spine { edge [bandwidth=\"1e2Gb/s\"]; tor0 -- spine }\n"
    "# a line of the preprocessor\n"
    "}\n";

const std::string zoo =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
    "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
    "  <key attr.name=\"LinkSpeedRaw\" attr.type=\"double\" for=\"edge\" id=\"d3\"/>\n"
    "  <key attr.name=\"LinkLabel\" attr.type=\"string\" for=\"edge\" id=\"d4\"/>\n"
    "  <key attr.name=\"label\" attr.type=\"string\" for=\"node\" id=\"d1\"/>\n"
    "  <key attr.name=\"type\" attr.type=\"string\" for=\"node\" id=\"d2\"/>\n"
    "  <key attr.name=\"Latitude\" attr.type=\"double\" for=\"node\" id=\"d0\"/>\n"
    "  <graph edgedefault=\"undirected\">\n"
    "    <data key=\"d4\">a network</data>\n"
    "    <node id=\"0\"><data key=\"d0\">40.7</data><data key=\"d1\">New York</data>\n"
    "      <data key=\"d2\">Green Node</data></node>\n"
    "    <node id=\"1\"><data key=\"d1\">Chicago</data></node>\n"
    "    <node id=\"2\"><data key=\"d1\">Denver</data></node>\n"
    "    <edge source=\"0\" target=\"1\"><data key=\"d3\">10000000000.0</data></edge>\n"
    "    <edge source=\"1\" target=\"2\"><data key=\"d3\">1.55520e+08</data></edge>\n"
    "    <edge source=\"2\" target=\"0\"><data key=\"d4\">&lt; 10 Gbps</data></edge>\n"
    "  </graph>\n"
    "</graphml>\n";

const std::string networkx =
    "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
    "<key id=\"d1\" for=\"edge\" attr.name=\"latency_s\" attr.type=\"double\"/>\n"
    "<key id=\"d0\" for=\"edge\" attr.name=\"bandwidth_Gbps\" attr.type=\"long\">"
    "<default>100</default></key>\n"
    "<graph edgedefault=\"directed\">\n"
    "<node id=\"switch/0\"/><node id=\"a b\"/><node id=\"a_b\"/>\n"
    "<edge source=\"a b\" target=\"switch/0\"><data key=\"d0\">400</data>"
    "<data key=\"d1\">1.3e-06</data></edge>\n"
    "<edge source=\"a b\" target=\"switch/0\"><data key=\"d1\">5e-07</data></edge>\n"
    "<edge source=\"switch/0\" target=\"a_b\" directed=\"false\"/>\n"
    "</graph></graphml>\n";

/// With all that a network may have: abilities, groups in an order of their own, parts,
/// coordinates.
Topology rich_network() {
  TopologyParts parts;
  parts.note = "50 % of a\\b --> \"c\" -- d\n\x01\xFF <x>&";
  parts.assumed = {"switches: plain--", "a \\"};
  parts.npu_model = "h100";
  parts.shape = {2, 1};
  parts.coordinates = {{1, 0}, {0, 0}, {}, {0, 0}};
  const NodeId b = parts.add_node({"npu10", NodeKind::npu, {}, {}});
  const NodeId a = parts.add_node({"npu2", NodeKind::npu, {true, false, true}, {7'000'000'001}});
  const NodeId s = parts.add_node({"0.switch:x-y", NodeKind::switching, {false, true, false}, {}});
  const NodeId m = parts.add_node({"node", NodeKind::memory, {true, true, false}, {}});
  parts.add_duplex({b, a, Time{1'300'001}, {49'999'999'999}, 1, parts.link_part("nvlink4")});
  parts.add_link({s, b, Time{0}, {1}, -1, parts.link_part("odd;part:\"\\")});
  parts.add_duplex({a, s, Time{500'000}, {50'000'000'000}});
  parts.add_link({a, s, Time{500'000}, {50'000'000'000}});
  parts.add_link({m, s, Time{1}, {25'000'000'000}});
  parts.groups = {{"late; one:%3B\"\\", {LinkId{5}, LinkId{3}}, {60'000'000'000}},
                  {"bus", {LinkId{0}, LinkId{3}, LinkId{4}}, {1}}};
  return Topology(std::move(parts));
}

void check_same(const Topology& network, const Topology& back) {
  CHECK(back.fingerprint() == network.fingerprint());
  CHECK(node_names(back) == node_names(network));
  CHECK(std::ranges::equal(back.shape(), network.shape()));
  CHECK(back.parts().coordinates == network.parts().coordinates);
  CHECK(back.parts().npu_model == network.parts().npu_model);
  CHECK(back.parts().assumed.empty());
  for (std::uint32_t l = 0; l < network.link_count(); ++l) {
    CHECK(back.part_of(LinkId{l}) == network.part_of(LinkId{l}));
    CHECK(back.link(LinkId{l}).dimension == network.link(LinkId{l}).dimension);
  }
  for (std::size_t g = 0; g < network.groups().size(); ++g)
    CHECK(back.groups()[g].name == network.groups()[g].name);
}

} // namespace

TEST_CASE("DOT: defaults, groups in braces, ports, strings") {
  const Topology network = read_graph(pod);
  CHECK(node_names(network) == std::vector<std::string>{"gpu2", "gpu10", "spine", "tor0"});
  CHECK(network.npu_count() == 2);
  CHECK(network.link_count() == 2 * 4);
  CHECK(total_bandwidth(network) == 2 * (50e9 + 50e9 + 50e9 + 12.5e9));
  CHECK(network.link(LinkId{0}).latency == Time{300'000});   // gpu2 to gpu10
  CHECK(network.link(LinkId{1}).latency == Time{1'500'000}); // gpu2 to tor0
  CHECK(network.link(LinkId{4}).latency == Time{500'000});   // spine to tor0
  CHECK(network.parts().assumed ==
        std::vector<std::string>{"nodes: NPUs, but for those called after a switch, router or NIC, "
                                 "which forward only: spine, tor0",
                                 "latency of a link: 0.5us (Tutti's default)",
                                 "attributes that say nothing of a network: \"color\", "
                                 "\"fontsize\", \"rankdir\", \"weight\""});

  const Topology labels =
      read_graph("digraph { n [kind=Memory]; x [type=\"GPU\"] a [kind=server]\n"
                 "x -> a [label=\"400G\"] a -> n [label=\"12 GB/s\"] n->a [label=uplink] }");
  CHECK(node_names(labels) == std::vector<std::string>{"x", "a", "n"});
  CHECK(labels.node(NodeId{2}).kind == NodeKind::memory);
  CHECK(total_bandwidth(labels) == 50e9 + 12e9 + 50e9);
  CHECK(labels.parts().assumed[0] ==
        "numbers of NPUs: in the order of the file, as not every name has one: x is 0, a is 1");
  CHECK(labels.parts().assumed[2] == "labels of links: their bandwidths, 400G being 400Gb/s");
  CHECK(read_graph("graph { a -- b; b -- a; \xC3\xA4 }").link_count() == 4);
  CHECK(read_graph("digraph{a->b->c}").npu_count() == 3);
}

TEST_CASE("graphs: what may have been meant and isn't read is named") {
  const Topology labels = read_graph(
      "graph { g0 [label=\"GPU 0\"]; s [label=\"Leaf Switch\"]; bandwidth=\"100Gbps\"\n"
      "g0 -- s [label=\"2x400G\"]; g1 -- s [label=\"400 GbE\"]; g2 -- s [label=\"10g\"]\n"
      "g3 -- s [label=\"eth0\", latency=\"1us\"]; s [latency=\"2us\"] }");
  CHECK(labels.npu_count() == 4); // a switch by its label, though not all have one
  CHECK(total_bandwidth(labels) == 2 * (50e9 + 50e9 + 1.25e9 + 50e9));
  const std::vector<std::string>& assumed = labels.parts().assumed;
  const auto has = [&](const std::string& line) {
    return std::ranges::find(assumed, line) != assumed.end();
  };
  CHECK(has("not read as bandwidths of links: label \"2x400G\""));
  CHECK(
      has("bandwidths and latencies of what is no link: \"bandwidth\" of the graph, \"latency\" of "
          "nodes; left out"));
  const Topology old = read_graph(
      "<graphml><key id=\"a\" for=\"edge\" attr.name=\"LinkSpeed\"/>"
      "<key id=\"b\" for=\"edge\" attr.name=\"LinkSpeedUnits\"/>"
      "<key id=\"c\" for=\"node\" yfiles.type=\"nodegraphics\"/><graph edgedefault=\"undirected\">"
      "<node id=\"x\"/><node id=\"y\"/>"
      "<edge source=\"x\" target=\"y\"><data key=\"a\">64</data><data key=\"b\">K</data></edge>"
      "<edge source=\"x\" target=\"y\"><data key=\"a\">&lt;10</data><data key=\"b\">G</data></edge>"
      "</graph></graphml>");
  CHECK(total_bandwidth(old) == 2 * (8e3 + 50e9));
  CHECK(old.parts().assumed.back() == "attributes that say nothing of a network: \"nodegraphics\"");
}

TEST_CASE("DOT: what is wrong, with its place") {
  const std::vector<SlipRow> rows = {
      {"\"400Gbps\"", "400",
       "f:4:19: bandwidth \"400\" has no unit (say 400Gbps or 50GB/s, or name it bandwidth_Gbps "
       "(bits) or bandwidth_GBps (bytes))"},
      {"\"400Gbps\"", "400Gbps", "f:4:19: a number with letters after it has to stand in quotes"},
      {"300 ns", "300", "f:7:61: latency \"300\" has no unit (say 1.3us ..."},
      {"_us", "_mm", "f:6:36: latency_mm has the unknown unit \"mm\" ..."},
      {"weight=3", "bw_Gbps=300",
       "f:8:36: bw_Gbps \"300\" isn't what another attribute of the same link says, 50GB/s ..."},
      {"{gpu10", "{tor0", "f:6:3: a link from \"tor0\" to itself"},
      {"tor0 -- spine", "gpu2 -- tor0",
       R"(f:9:56: a second link from "gpu2" to "tor0" in a strict graph)"},
      {"300 ns", "e5ns", "f:7:61: ... \"e5ns\" is not a number ..."},
      {"300 ns", "3e25 ns", "f:7:61: ... time \"3e25 ns\" is out of range ..."},
      {"_us", "_GBPS", "f:6:38: latency_GBPS has the unknown unit \"GBPS\" ..."},
  };
  check_slips(graph_refusal, pod, rows);
  std::string many = "graph {\n";
  for (int i = 0; i < 999; ++i) many += "subgraph x { a } a [kind=gpu] [x=1]; b -- c\n";
  check_whole_refusals(
      graph_refusal,
      {{"graph {\n a -- b\n b -- b }", "f:3:2: a link from \"b\" to itself"},
       {"graph {\n a -- b;\n a -> b\n}", R"(f:3:4: expected "--", as in every graph, found "->")"},
       {"digraph {\n a -- b }", R"(f:2:4: expected "->", as in every digraph, found "--")"},
       {"digraph {\n a [kind=gpu\n b }",
        R"(f:3:4: expected the name of an attribute or "]", found "}")"},
       {"graph { a [kind=] }", R"(f:1:17: expected a value, found "]")"},
       {"graph { edge a -- b }", R"(f:1:14: expected "[", found "a")"},
       {many + "b -- c d = }", R"(f:1001:12: expected a value, found "}")"},
       {"graph { a -- node -- a }", R"(f:1:14: expected a node or "{", found "node")"},
       {"graph { a:\"p\":n:= }", R"(f:1:17: expected a port, found "=")"},
       {"graph {\n subgraph -- a }", R"(f:2:11: expected a name or "{", found "--")"},
       {"graph {\n a -- b\n",
        R"(f:3:1: expected a node, a link, an attribute or "}", found the end of the file)"},
       {"graph { {a b} [kind=gpu] }",
        R"(f:1:15: expected a node, a link, an attribute or "}", found "[")"},
       {"graph { a } b", R"(f:1:13: expected the end of the file, found "b")"},
       {"graph { a [label=\"x }", "f:1:18: a string without an end"},
       {"graph { a [label=\"x\" + y] }", "f:1:24: a string has to follow +"},
       {"graph { a [label=<<b>] }", "f:1:18: a string in <> without an end"},
       {"graph { a /* b }", "f:1:11: a comment without an end"},
       {"graph {\n a -- b ! }", "f:2:9: \"!\" begins no word of a graph"},
       {"graph { a [kind=toaster] }", "f:1:17: unknown kind \"toaster\" (known: npu, gpu, host, "
                                      "switch, router, nic, cpu, memory, "
                                      "...)"},
       {"digraph { a -> b [dir=up] }",
        "f:1:23: unknown dir \"up\" (known: forward, back, both, none)"},
       {"graph {}", "f:1:1: a graph without nodes"},
       {"graph { a -- b [groups=\"bus\"] }", "f:1:24: group \"bus\" has no bandwidth ..."},
       {"graph { edge [groups=\"bus:1GB/s\"] a -- b; b -- c [groups=\"bus:2GB/s\"] }",
        "f:1:58: group \"bus\" has 2GB/s here, but 1GB/s elsewhere"}});
}

TEST_CASE("DOT: braces are all nodes within them, wherever these stand") {
  const auto links = [](const std::string& text) { return read_graph(text).link_count(); };
  CHECK(links("digraph { {b -> c} -> d }") == 3);
  CHECK(links("digraph { a -> {b; {c -> d:port}} -> subgraph {e} }") == 3 + 1 + 3);
  CHECK(links("digraph { subgraph k {a}; subgraph m {subgraph k}; subgraph k {b}\n"
              "subgraph m -> c; {a a b} -> d }") == 2 + 2);
  CHECK(links("digraph { subgraph k {}; subgraph k -> c }") == 0);
  const Topology defaults =
      read_graph("digraph { edge [bandwidth=\"1GB/s\"]\n"
                 "subgraph k { edge [bandwidth=\"2GB/s\"] a -> b }\n"
                 "b -> c; subgraph k { c -> d } c -> e [bandwidth=\"4GB/s\"] }");
  CHECK(total_bandwidth(defaults) == 2e9 + 1e9 + 2e9 + 4e9);
}

TEST_CASE("GraphML: the Internet Topology Zoo's, and NetworkX's") {
  const Topology network = read_graph(zoo);
  CHECK(node_names(network) == std::vector<std::string>{"New_York", "Chicago", "Denver"});
  CHECK(network.npu_count() == 3);
  CHECK(network.link_count() == 6);
  CHECK(total_bandwidth(network) == 2 * (1.25e9 + 19'440'000 + 50e9));
  CHECK(network.parts().assumed ==
        std::vector<std::string>{
            "types of nodes: \"Green Node\" says nothing of what they do",
            "nodes: all are NPUs, as none has a kind or is called after a switch",
            "bandwidth of a link: 50GB/s (Tutti's default)",
            "latency of a link: 0.5us (Tutti's default)",
            "attributes that say nothing of a network: \"Latitude\", \"LinkLabel\""});

  const Topology other = read_graph(networkx);
  CHECK(node_names(other) == std::vector<std::string>{"a_b_2", "a_b", "switch_0"});
  CHECK(other.link_count() == 2 + 2);
  CHECK(total_bandwidth(other) == 50e9 + 12.5e9 + 2 * 12.5e9);
  CHECK(other.link(LinkId{0}).latency == Time{500'000}); // two in parallel, the quicker first
  CHECK(other.link(LinkId{1}).latency == Time{1'300'000});
  CHECK(other.link(LinkId{2}).from == NodeId{1});
}

TEST_CASE("GraphML: what is wrong, with its place") {
  const std::vector<SlipRow> rows = {
      {"target=\"a_b\"", "target=\"a_c\"", "f:8:1: there is no node \"a_c\""},
      {"\"switch/0\"/>", "\"a b\"/>", "f:5:17: node \"a b\" stands twice"},
      {"bandwidth_Gbps", "bandwidth", "f:6:53: bandwidth \"400\" has no unit ..."},
      {"target=\"a_b\"", "target=\"switch/0\"", "f:8:1: a link from \"switch_0\" to itself"},
      {"5e-07", "5<!-- -->e-07", "f:7:62: the value of \"latency_s\" stands in two pieces"},
      {"key=\"d1\"", "key=\"d7\"", "f:6:63: no <key> has the id \"d7\""},
      {"5e-07", "-1", "f:7:53: time \"-1\" ..."},
      {"5e-07", "5e-99", "f:7:53: ..."},
      {"<node id=\"a_b\"/>", R"(<node id="a_b"><graph edgedefault="directed"/></node>)",
       "f:5:53: graphs within nodes or edges aren't read"},
      {"</graph>", "</graph><graph edgedefault=\"directed\"/>", "f:9:9: a second graph"},
      {"=\"directed\"", "=\"both\"",
       "f:4:1: edgedefault is \"both\", neither directed nor undirected"},
      {"</graph>", "</graf>", "f:9: ..."},
  };
  check_slips(graph_refusal, networkx, rows);
  CHECK_THAT(
      graph_refusal("<!DOCTYPE g [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>\n" + networkx),
      StartsWith("f:1:11: a document type"));
}

TEST_CASE("graphs: what would need all memory is refused") {
  CHECK_THAT(graph_refusal("graph " + std::string(200'000, '{')), StartsWith("f:1:107: more than"));
  CHECK_THAT(graph_refusal("graph {" + std::string(200'000, '[')), StartsWith("f:1:8: "));
  std::string group = "{";
  for (int i = 0; i < 20'000; ++i) group += "a" + std::to_string(i) + " ";
  group += "}";
  CHECK_THAT(graph_refusal("digraph {" + group + " -> " + group + "}"), Contains("than fit"));
  // A named group that grows after it has become a member of another one.
  CHECK_THAT(graph_refusal("graph { subgraph b {subgraph a} subgraph a " + group +
                           "; subgraph b -- " + replaced(group, "a0 ", "x ") + "}"),
             Contains("than fit"));
  CHECK_THAT(graph_refusal("graph { edge [label=\"" + std::string(1'000'000, 'x') + "\"]; a -- b " +
                           "subgraph {" + std::string(100, '<') + "}"),
             StartsWith("f:1:"));
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "<x>";
  CHECK_THAT(graph_refusal("<graphml>" + nested), StartsWith("f:1:"));
  for (int i = 0; i < 100'000; ++i) nested += "</x>";
  CHECK(read_graph(replaced(networkx, "</graph>", nested + "</graph>")).npu_count() == 2);
  std::string graphs = "<graphml>";
  for (int i = 0; i < 100'000; ++i) graphs += "<graph edgedefault=\"directed\">";
  CHECK_THAT(graph_refusal(graphs), StartsWith("f:1:"));
}

TEST_CASE("networks come back from DOT and from GraphML as they were") {
  const Topology rich = rich_network();
  for (const Topology& network : {rich, make_topology("torus2d:3x3"), make_topology("dgx1")}) {
    check_same(network, read_graph(topology_dot(network)));
    check_same(network, read_graph(topology_graphml(network)));
  }
  CHECK_THAT(topology_dot(rich), StartsWith("// \n// 50 % of a\\b --> \"c\" -- d    <x>&\n"));
  CHECK_THAT(topology_graphml(rich),
             Contains("\n<!-- 50 % of a\\b - -> \"c\" - - d    <x>& -->\n"));
  for (const std::string& text : {pod, zoo, networkx}) {
    const Topology network = read_graph(text);
    CHECK(read_graph(topology_dot(network)).fingerprint() == network.fingerprint());
    CHECK(read_graph(topology_graphml(network)).fingerprint() == network.fingerprint());
    CHECK(topology_dot(network) == topology_dot(network));
  }
  TopologyParts parts = rich.parts();
  parts.groups[1].name = parts.groups[0].name;
  CHECK_THAT(message_of([&] { (void)topology_dot(Topology(parts)); }),
             StartsWith("two groups are called"));
}

TEST_CASE("DOT and GraphML are taken for no others") {
  for (const char* text : {"graph = \"x\"\n", "digraph,{\n", "graph\n", "# graph {\nname = \"x\"\n",
                           "", "from,to\na,b\n", "<algo name=\"<graph\">", "strict graph x y {"}) {
    CHECK_FALSE(topologies::is_dot(text));
    CHECK_FALSE(topologies::is_graphml(text));
  }
  CHECK(topologies::is_dot("# y\n/* x */\n"
                           "DiGraph\n\"a\"\n{"));
}

TEST_CASE("arrows of DOT say in which directions a link is") {
  const Topology network =
      read_graph("digraph { a -> b [dir=both]; c -> a [dir=back]; b -> c [dir=forward] }");
  std::set<std::pair<std::string, std::string>> links;
  for (const Link& link : network.links())
    links.emplace(network.node(link.from).name, network.node(link.to).name);
  CHECK(links == std::set<std::pair<std::string, std::string>>{
                     {"a", "b"}, {"b", "a"}, {"a", "c"}, {"b", "c"}});
}

TEST_CASE("damaged graphs are refused or read, and nothing else") {
  const Topology rich = rich_network();
  std::size_t refused = 0;
  for (const std::string& text : {pod, zoo, networkx, topology_dot(rich), topology_graphml(rich)})
    for (const topologies::ForeignFormat& format : {dot_format, graphml_format})
      refused += refused_when_damaged(text, " \n\t,;[]{}<>/:#\"-=x01e9&%\\", 150,
                                      [&](const std::string& copy) {
                                        return topologies::read_foreign(format, {copy, "f"});
                                      });
  CHECK(refused > 900);
}

} // namespace graphs_test
