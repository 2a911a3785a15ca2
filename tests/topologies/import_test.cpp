// Networks in other programs' files: what they say, counted by hand, and what is wrong, with its
// place. Published files are read where they are.
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/refusals.hpp"
#include "tests/topologies/damaged.hpp"
#include "topologies/export/list.hpp"
#include "topologies/import/list.hpp"
#include "topologies/list.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace import_test {

using namespace tutti;
using Catch::Matchers::StartsWith;

namespace {

Topology read(const std::string& text, std::string_view format) {
  const topologies::ForeignFormat* found = topologies::foreign_format(text);
  REQUIRE(found != nullptr);
  CHECK(found->name == format);
  return topologies::read_foreign(*found, {text, "f", 1});
}

std::string refusal(const std::string& text, std::string_view format) {
  return message_of([&] { (void)read(text, format); });
}

struct Count {
  std::size_t links = 0;
  double total = 0; ///< bytes/s
};

/// Of links with this latency.
Count links_of(const Topology& network, Time latency) {
  Count count;
  for (const Link& link : network.links())
    if (link.latency == latency) {
      ++count.links;
      count.total += static_cast<double>(link.bandwidth.bytes_per_second);
    }
  return count;
}

std::size_t switches(const Topology& network) { return network.node_count() - network.npu_count(); }

const std::string astra = "topology: [ Ring, FullyConnected, Switch ]\n"
                          "npus_count: [ 2, 4, 3 ]  # 24\n"
                          "bandwidth: [ 200.0, 100.0, 50.5 ]\n"
                          "latency: [ 50.0, 500.25, 2000.0 ]\n";

const std::string simai = "7 2 2 1 8 H100\n"
                          "4 5 6\n"
                          "0 4 2400Gbps 0.000025ms 0\n"
                          "1 4 2400Gbps 0.000025ms 0\n"
                          "2 5 2400Gbps 0.000025ms 0\n"
                          "3 5 2400Gbps 0.000025ms 0\n"
                          "0 6 100Gbps 0.0005ms 0\n"
                          "1 6 100Gbps 0.0005ms 0\n"
                          "2 6 100Gbps 0.0005ms 0\n"
                          "3 6 100Gbps 0.0005ms 0\n";

const std::string fat_tree = "# three tiers\nNodes 32\nTiers 3\nPodsize 8\n\n"
                             "Tier 0\nOversubscribed 2\nDownlink_speed_Gbps 100\nRadix_Down 4\n"
                             "Radix_Up 2\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 10\n\n"
                             "Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\n"
                             "Downlink_Latency_ns 2000\nSwitch_Latency_ns 20\nBundle 1\n\n"
                             "Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\n"
                             "Downlink_Latency_ns 3000\nSwitch_Latency_ns 30\nBundle 1\n";

const std::string list = "from,to,bandwidth,latency_us\n"
                         "a,switch0,50GB/s,1\n"
                         "b,switch0,50GB/s,1.5\n"
                         "\"c\",switch0,100Gb/s,1\n";

} // namespace

TEST_CASE("ASTRA-sim's network: a product of dimensions, GB of 2^30 bytes") {
  const Topology network = read(astra, "astra");
  CHECK(network.npu_count() == 24);
  CHECK(switches(network) == 8);
  CHECK(links_of(network, Time{50'000}).links == 24);      // a ring of 2 is a link each way
  CHECK(links_of(network, Time{500'250}).links == 24 * 3); // to 3 others
  CHECK(links_of(network, Time{2'000'000}).links == 24 * 2);
  CHECK(links_of(network, Time{50'000}).total == 24 * 200.0 * 0x1p30);
  CHECK(links_of(network, Time{2'000'000}).total == 48 * 50.5 * 0x1p30);
  // NPU 0's others in dimension 0 and 1: ids 1, and 2, 4, 6.
  std::vector<std::uint32_t> others;
  for (const LinkId link : network.out_links(NodeId{0}))
    if (network.link(link).to.value < 24) others.push_back(network.link(link).to.value);
  CHECK(others == std::vector<std::uint32_t>{1, 2, 4, 6});

  CHECK(refusal(replaced(astra, "FullyConnected", "Fully"), "astra") ==
        "f:1:19: unknown topology \"Fully\" (known: FullyConnected, Ring, Switch)");
  CHECK(refusal(replaced(astra, "200.0, 100.0, 50.5", "200.0, 100.0"), "astra") ==
        "f:3:12: 2 values for 3 dimensions");
  CHECK(refusal(replaced(astra, "[ 2, 4, 3 ]", "[ 2, 4, x ]"), "astra") ==
        "f:2:21: \"x\" is no number");
  CHECK(refusal(replaced(astra, "latency:", "latencies:"), "astra") ==
        "f:4:1: unknown key \"latencies\" (known: topology, npus_count, bandwidth, latency)");
  CHECK_THAT(refusal(replaced(astra, "[ 2,", "[ 2,]]"), "astra"), StartsWith("f:2:"));
  CHECK(refusal(replaced(astra, "[ 2, 4, 3 ]", "[ 2, 450, 103 ]"), "astra") ==
        "f:2:13: more than 10000000 links");
}

TEST_CASE("ns-3's text: SimAI's nodes, and ASTRA-sim's") {
  const Topology network = read(simai, "ns3");
  CHECK(network.npu_count() == 4);
  CHECK(network.parts().npu_model == "h100");
  CHECK(network.node(NodeId{4}).name == "nvswitch4");
  CHECK(network.node(NodeId{6}).name == "switch6");
  CHECK(links_of(network, Time{25'000}).links == 8);
  CHECK(links_of(network, Time{25'000}).total == 8 * 300e9);
  CHECK(links_of(network, Time{500'000}).total == 8 * 12.5e9);

  const Topology other =
      read("3 1 2\n1\n0 1 400Gbps 0.0005ms 0\n1 2 400Gbps 0.0005ms 0.01\n", "ns3");
  CHECK(other.npu_count() == 2);
  CHECK(other.node(NodeId{1}).name == "npu2"); // as the file numbers it
  CHECK(other.link_count() == 4);
  CHECK(other.parts().assumed.back() == "loss: no packet is lost, whatever the last column says");

  CHECK(refusal(replaced(simai, "2 1 8", "2 1 9"), "ns3") ==
        "f:1:9: 9 links, but 8 lines of links follow");
  CHECK(refusal(replaced(simai, "4 5 6\n", "4 5\n"), "ns3") ==
        "f:2:1: 2 switches are listed, but the first line says 3");
  CHECK(refusal(replaced(simai, "0 4", "0 7"), "ns3") == "f:3:3: 7 is out of range (0 .. 6)");
  CHECK(refusal(replaced(simai, "0 4", "4 4"), "ns3") == "f:3:3: a link from a node to itself");
  CHECK_THAT(refusal(replaced(simai, "0.0005ms 0\n", "0.0005 0\n"), "ns3"), StartsWith("f:7:13: "));
}

TEST_CASE("htsim's fat trees: switches follow from speeds and oversubscription") {
  const Topology network = read(fat_tree, "htsim");
  CHECK(network.npu_count() == 32);
  // 4 pods of 2 ToRs with 2 uplinks each; 2 switches above, each with 2 links down and 2 up; so
  // 16 links into cores of 4: 4 cores.
  CHECK(switches(network) == 8 + 8 + 4);
  CHECK(network.link_count() == 2 * (32 + 16 + 16));
  CHECK(links_of(network, Time{1'000'000}).links == 32); // from a host
  CHECK(links_of(network, Time{1'010'000}).links == 32); // from a ToR down
  CHECK(links_of(network, Time{2'010'000}).links == 16); // from a ToR up
  CHECK(links_of(network, Time{2'020'000}).links == 16);
  CHECK(links_of(network, Time{3'020'000}).links == 16);
  CHECK(links_of(network, Time{3'030'000}).links == 16);
  for (std::uint32_t n = 52 - 4; n < 52; ++n) CHECK(network.out_links(NodeId{n}).size() == 4);
  for (const Link& link : network.links()) CHECK(link.bandwidth == Bandwidth{12'500'000'000});

  const std::string two =
      "Nodes 32\nTiers 2\nPodsize 32\nTier 0\nDownlink_speed_Gbps 100\n"
      "Radix_Down 8\nRadix_Up 2\nDownlink_Latency_ns 1000\nOversubscribed 4\n"
      "Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\n";
  CHECK(switches(read(two, "htsim")) == 4 + 2);

  CHECK(refusal(replaced(fat_tree, "Podsize 8", "Podsize 7"), "htsim") ==
        "f:4:9: 32 nodes aren't pods of 7");
  CHECK(refusal(replaced(fat_tree, "Radix_Up 2", "Radix_Up 3"), "htsim") ==
        "f:6:1: a ToR's 2 uplinks (of Radix_Up 3) don't meet 2 switches of tier 1 with 1 links "
        "each");
  CHECK(refusal(replaced(fat_tree, "Radix_Down 4", "Radix_Dawn 4"), "htsim") ==
        "f:9:1: unknown setting \"Radix_Dawn\"");
  CHECK(refusal(replaced(fat_tree, "Tier 2", "Tier 1"), "htsim") == "f:22:6: tier 1 stands twice");
}

TEST_CASE("tables of links, and matrices of bandwidths") {
  const Topology network = read(list, "csv");
  CHECK(network.npu_count() == 3);
  CHECK(network.node(NodeId{2}).name == "c");
  CHECK(network.node(NodeId{3}).name == "switch0");
  CHECK(network.link_count() == 6);
  CHECK(links_of(network, Time{1'500'000}).links == 2);
  CHECK(links_of(network, Time{1'000'000}).total == 2 * (50e9 + 12.5e9));
  CHECK(network.parts().assumed.front() == "rows: links in both directions");
  const Topology both = read("src;dst;bw (GB/s)\na;b;10\nb;a;20\n", "csv");
  CHECK(both.link_count() == 2);
  CHECK(both.link(LinkId{1}).bandwidth == Bandwidth{20'000'000'000});
  const Topology matrix = read(",a,b,sw\na,0,2.5,\nb,-,0,400Gb/s\nsw,1,0,0\n", "csv");
  CHECK(matrix.npu_count() == 2);
  CHECK(matrix.link_count() == 3);
  CHECK(matrix.link(LinkId{0}).bandwidth == Bandwidth{2'500'000'000});
  CHECK(matrix.link(LinkId{1}).bandwidth == Bandwidth{50'000'000'000});

  const auto csv_refusal = [](const std::string& text) { return refusal(text, "csv"); };
  check_slips(
      csv_refusal, list,
      {{"latency_us", "colour",
        "f:1:19: unknown column \"colour\" (known: from, to, bandwidth, latency, directed, "
        "from_kind, to_kind)"},
       {"a,switch0", "a,a", "f:2:1: a link from a node to itself"},
       {",1.5", "", "f:3:1: 3 cells in 4 columns"},
       {"b,switch0,50GB/s", "b,switch0,fast", "f:3:11: ..."},
       {"b,switch0,50GB/s", "b,switch0,9e9 GBps", "f:3:11: bandwidth \"9e9 GBps\" is out of range"},
       {"b,switch0,50GB/s", "b,\"switch0,50GB/s", "f:3:3: a quote that isn't closed"},
       {"b,switch0,50GB/s", "b,switch\"0\",50GB/s",
        "f:3:9: a quote within a field that has none around it"},
       {"b,switch0,50GB/s", "b, \"switch0\" 1,50GB/s",
        "f:3:14: a separator is missing behind a quote"},
       {"1.5", "-1e1", "f:3:18: time \"-1e1\" is negative"}});
  check_whole_refusals(csv_refusal,
                       {{",a,b\na,0,1\nc,1,0\n", "f:3:1: row 2 is \"c\", but column 2 \"b\""},
                        {"from,to\na,b\nb,a\nb,c\n", "f:2:1: the reverse of this link ..."},
                        {"from,to,bw\na,b,\"1\"\"GB/s\"\n", "f:2:5: ..."},
                        {",a,b\na,0,.\nb,1,0\n", "f:2:5: ..."},
                        {"from,to\na\xFF,b\n", "f:2:2: byte 0xff is no text in UTF-8"},
                        {"from,to\na,\xED\xA0\x80\n", "f:2:3: ..."}, // a surrogate
                        {"from,to\nGPU 0,b\nGPU+0,b\n", "f:3:1: \"GPU 0\" and ..."},
                        {"0,10,20\n10,0,30\n", "f:1:1: 3 columns, but 2 rows"},
                        {"0,10\n10,5\n", "f:2:4: a link from a node to itself"}});
}

TEST_CASE("tables may have quotes, a byte order mark and any ends of lines") {
  const Topology network =
      read("\xEF\xBB\xBF\"from\" , to,\"bandwidth (GB/s)\"\r\n# remark, \"1\r\n"
           "\r\n \"a,b\" ,\"c \"\"d\"\"\",50\r\ne,\t\"c \"\"d\"\"\" ,1",
           "csv");
  CHECK(network.link_count() == 4);
  CHECK(network.node(NodeId{0}).name == "a_b");
  CHECK(network.npu_count() == 3);
}

TEST_CASE("Tutti's own files are taken for no others") {
  for (const char* toml : {"\tname = \"indented\"\nnpus = 2\n", "# from,to\nname = \"x\"\n",
                           "note = \"nodes 4, tiers 2, podsize 4\"\nnpus = 2\n",
                           "# topology: Ring, npus_count: 8\nnpus = 8\n",
                           "note = \"topology: of npus_count: 8\"\nnpus = 8\n", "", "\n", ",\n"})
    CHECK(topologies::foreign_format(toml) == nullptr);
  CHECK(read("# my links\n\nfrom,to\na,b\n", "csv").link_count() == 2);
  CHECK(refusal("9 1 1\n1\n0 1 400Gbps 0.0005ms 0\n", "ns3") ==
        "f:1:1: 1 links can't join 9 nodes");
  const std::string nested = "npus_count: [ 2 ]\ntopology: " + std::string(500'000, '[');
  CHECK(refusal(nested, "astra").starts_with("f:2:"));
}

TEST_CASE("readers take nothing in silence that means something else") {
  // Bytes and bits, by the letter.
  CHECK(read("from,to,bw (GBps)\na,b,50\n", "csv").link(LinkId{0}).bandwidth ==
        Bandwidth{50'000'000'000});
  CHECK(read("from,to,bw\na,b,400Gbps\n", "csv").link(LinkId{0}).bandwidth ==
        Bandwidth{50'000'000'000});
  CHECK(read("bw,from,to\n1GB/s,sw0,GPU#0\n1GB/s,sw0,GPU#1\n", "csv").npu_count() == 2);
  CHECK(read("from,to\na,\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8C\x90\n", "csv").npu_count() == 2);
  CHECK(refusal(replaced(astra, "[ 2, 4, 3 ]", "[ 2, 4.5, 3 ]"), "astra") ==
        "f:2:18: expected a whole number");
  CHECK(refusal(replaced(astra, "latency: [ 50.0", "latency: [ 0.0001"), "astra") ==
        "f:4:12: less than a picosecond");
  CHECK(refusal(astra + "latency: [ 1, 2, 3 ]\n", "astra") ==
        "f:5:1: the key \"latency\" stands twice");
  CHECK_THAT(refusal(astra + "---\na: 1\n", "astra"), StartsWith("f:5:1: a second document"));
  // Networks of NPUs alone, tabs.
  CHECK(read("3 0 2\n\n0\t1 400Gbps 1us 0\n1 2 50GBps 1us 0\n", "ns3").link_count() == 4);
  CHECK(read("3\t1\t2\n1\n0\t1\t400Gbps 1us 0\n1 2 400Gbps 1us 0\n", "ns3").npu_count() == 2);
  // Core 1 of 4 belongs to the second switch of each pod, as in htsim.
  const Topology tree = read(fat_tree, "htsim");
  for (const LinkId link : tree.out_links(tree.find_node("core1")))
    CHECK(
        tree.node(tree.link(link).to).name ==
        std::vector<std::string>{"agg1", "agg3", "agg5", "agg7"}[tree.link(link).to.value % 8 / 2]);
}

TEST_CASE("assumptions stay with what is left of a network") {
  const Topology network = read(list, "csv");
  const std::vector<NodeId> gone{NodeId{0}};
  CHECK(without(network, gone, {}).parts().assumed == network.parts().assumed);
}

TEST_CASE("tables of other people: units, powers of ten, and names that aren't Tutti's") {
  const Topology network =
      read("from,to,bandwidth_gbps,latency_us\nGPU 0,b,1e2,1\nb,c,25,2\n", "csv");
  CHECK(network.node(NodeId{0}).name == "GPU_0");
  CHECK(network.link(LinkId{0}).bandwidth.bytes_per_second == 12'500'000'000);
  CHECK(read("from,to,bandwidth\na,b,25Gbit/s\n", "csv").link(LinkId{0}).bandwidth ==
        Bandwidth{3'125'000'000});
  CHECK(read(",a,b\na,0,1e2\nb,1e2,0\n", "csv").link(LinkId{0}).bandwidth ==
        Bandwidth{100'000'000'000});
}

TEST_CASE("columns of a table say what its nodes are") {
  const std::string text = "from,from_kind,to,to_kind,bandwidth,latency\n"
                           "spine,npu,b,switch,50GB/s,1us\nb,switch,c,npu,50GB/s,1us\n";
  const Topology network = read(text, "csv");
  CHECK(network.npu_count() == 2);
  CHECK(network.node(NodeId{0}).name == "spine");
  CHECK(network.node(NodeId{2}).name == "b");
  CHECK(refusal(replaced(text, "b,switch,c", "b,npu,c"), "csv") ==
        "f:3:3: another kind of b than before");
  CHECK(refusal(replaced(text, "c,npu", "c,host"), "csv") ==
        "f:3:12: unknown kind \"host\" (known: npu, switch)");
}

TEST_CASE("what is no network is told by what it is") {
  CHECK(message_of([] {
          topologies::refuse_other_kinds(
              R"({"scheduling-policy": "LIFO", "preferred-dataset-splits": 4})", "s.json");
        }) == "s.json: this is an ASTRA-sim system file; -t wants its network yml (astra --set "
              "system=FILE reads the system file)");
  CHECK(message_of([] { topologies::refuse_other_kinds("{\"a\": 1}", "s.json"); }) ==
        "s.json: no network of a known kind (known: Tutti's TOML, astra, csv, dot, graphml, htsim, "
        "infragraph, nccl, ns3, nvidia-smi, simgrid, taccl, teccl, hwloc, nvidia-list, p2p, "
        "rocm-smi)");
  topologies::refuse_other_kinds("name = \"net\" # instead of <algo nchannels=2>", "s.toml");
  CHECK(message_of([] {
          (void)topologies::read_foreign(*topologies::foreign_format(list), {list, "f.csv", 2});
        }) ==
        "f.csv:2: only of a node there may be several, but this file is a whole network (csv)");
}

TEST_CASE("networks of other programs come back from Tutti's own file as they were") {
  for (const std::string& text : {astra, simai, fat_tree, list}) {
    const topologies::ForeignFormat& format = *topologies::foreign_format(text);
    const Topology network = topologies::read_foreign(format, {text, "f", 1});
    const std::string toml = topology_toml(network);
    CHECK_THAT(toml, StartsWith("# assumed: "));
    const Topology back = parse_topology(toml, "back.toml");
    CHECK(back.fingerprint() == network.fingerprint());
    CHECK(back.parts().npu_model == network.parts().npu_model);
  }
}

TEST_CASE("CSV: a matrix of numbers alone has a node for each row") {
  for (const std::string text : {"0,10,20\n10,0,30\n20,30,0\n", "0;10;20\n10;0;30\n20;30;\n",
                                 "0\t10\t20\n10\t-\t30\n20\t30\t0\n"}) {
    const Topology network = read(text, "csv");
    CHECK(network.npu_count() == 3);
    CHECK(network.link_count() == 6);
    CHECK(links_of(network, Time{500'000}).total == 2 * (10e9 + 20e9 + 30e9));
    CHECK(network.node(NodeId{2}).name == "npu2");
    CHECK(network.parts().assumed.front() ==
          "names of nodes: npu0, npu1, ..., as the matrix has none");
  }
  // Names that are numbers are names where the corner has none.
  CHECK(read(",1,2\n1,0,25\n2,25,0\n", "csv").npu_count() == 2);
  CHECK(read("from,to,latency (\xC2\xB5s)\na,b,1.5\n", "csv").link(LinkId{0}).latency ==
        Time{1'500'000});
  CHECK(read("from,to,latency\na,b,1e-6s\n", "csv").link(LinkId{0}).latency == Time{1'000'000});
}

TEST_CASE("damaged networks of other programs are refused or read, and nothing else") {
  std::size_t refused = 0;
  for (const std::string& text : {astra, simai, fat_tree, list})
    refused += refused_when_damaged(text, " \n\t,;[]{}:#\"-x0189&*\xFF", 300, read_if_known);
  CHECK(refused > 300);
}

TEST_CASE("published networks say what their text says") {
  const std::filesystem::path folder =
      std::filesystem::path(TUTTI_SOURCE_DIR).parent_path() / "shared/data/topologies";
  if (!std::filesystem::exists(folder)) {
    WARN("no published networks here: skipped");
    return;
  }
  const auto of = [&](const std::string& name) { return make_topology((folder / name).string()); };
  CHECK(of("astra/Ring_8npus.yml").link_count() == 16);
  CHECK(of("astra/HGX-H100-validated.yml").link_count() == 16);
  const Topology rfs = of("astra/Ring_FullyConnected_Switch.yml");
  CHECK(rfs.npu_count() == 64);
  CHECK(links_of(rfs, Time{2'000'000}).total == 2 * 64 * 50.0 * 0x1p30);
  const Topology rail = of("simai/No_Rail_Opti_32g_8gps_SingleToR_100Gbps_A100");
  CHECK(rail.npu_count() == 32);
  CHECK(switches(rail) == 69);
  CHECK(rail.link_count() == 2 * 128);
  CHECK(links_of(rail, Time{25'000}).total == 2 * 32 * 300e9);
  CHECK_THAT(message_of([&] { (void)of("astra/Ring_4chunks.json"); }),
             Catch::Matchers::Contains("an ASTRA-sim system file; -t wants its network yml"));
}

} // namespace import_test
