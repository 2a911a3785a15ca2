// A network is the same in whichever order a file lists its links and nodes; names count.
#include "algorithms/list.hpp"
#include "sim/collective.hpp"
#include "sim/random.hpp"
#include "sim/text.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "topologies/export/list.hpp"
#include "topologies/import/list.hpp"
#include "topologies/import/numbering.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace numbering_test {

using namespace tutti;

namespace {

using Lines = std::vector<std::string>;

/// A file: what stands before and after lines that may have any order.
struct Listing {
  std::string head;
  Lines nodes, links; ///< in two blocks
  std::string foot;
};

std::string text_of(const Listing& listing) {
  std::string text = listing.head;
  for (const Lines* lines : {&listing.nodes, &listing.links})
    for (const std::string& line : *lines) text += line + "\n";
  return text + listing.foot;
}

Topology read(const std::string& text) {
  return topologies::read_foreign(*topologies::foreign_format(text), {text, "f"});
}

Lines names_of(const Topology& network) {
  Lines names;
  for (const Node& node : network.nodes()) names.push_back(node.name);
  return names;
}

// Two servers of three GPUs on a switch each and on rails, the second listed before the first, with
// two links in parallel; and graphs in which each link says something else.
const Listing csv{"from,to,bandwidth,latency,from_kind,to_kind\n",
                  {},
                  {"n1g0,nvs1,400GB/s,1us,npu,switch", "n1g1,nvs1,400GB/s,1us,npu,switch",
                   "nvs1,n1g10,400GB/s,1us,switch,npu", "n0g10,nvs0,400GB/s,1us,npu,switch",
                   "n0g1,nvs0,400GB/s,1us,npu,switch", "nvs0,n0g0,400GB/s,1us,switch,npu",
                   "n0g0,r0,50GB/s,2us,npu,switch", "n1g0,r0,50GB/s,2us,npu,switch",
                   "n0g1,r1,50GB/s,2us,npu,switch", "r1,n1g1,50GB/s,2us,switch,npu",
                   "n0g10,r10,50GB/s,2us,npu,switch", "n1g10,r10,50GB/s,2us,npu,switch",
                   "n0g10,r10,50GB/s,3us,npu,switch"},
                  ""};
const Listing dot{"graph {\n",
                  {"n1g1 [kind=gpu];", "n1g0 [type=gpu];", "n0g10;", "n0g2 [type=odd];",
                   "n0g1 [type=strange];", "sw10;", "sw9;"},
                  {"n1g1 -- sw10 [bandwidth=\"50GB/s\"];", "sw10 -- n1g0 [latency=\"1us\"];",
                   "n0g10 -- sw9 [label=\"400G\", groups=\"bus:60GB/s;all:90GB/s\"];",
                   "n0g1 -- sw9 [part=nvlink4, groups=\"all:90GB/s\"];",
                   "sw9 -- n0g2 [part=\"nvlink3\", latency=\"2us\"];", "sw9 -- sw10;",
                   "sw10 -- sw9 [groups=\"bus:60GB/s\"];", "sw9 -- sw10 [groups=\"odd:10GB/s\"];"},
                  "}\n"};
const Listing graphml{"<graphml><key id=\"l\" for=\"node\" attr.name=\"label\"/>\n"
                      "<key id=\"b\" for=\"edge\" attr.name=\"bandwidth\"/>\n"
                      "<graph edgedefault=\"undirected\">\n",
                      {"<node id=\"n3\"><data key=\"l\">Rome</data></node>",
                       "<node id=\"n12\"><data key=\"l\">Oslo</data></node>",
                       "<node id=\"n2\"><data key=\"l\">Bern</data></node>"},
                      {"<edge source=\"n3\" target=\"n12\"/>",
                       "<edge source=\"n2\" target=\"n3\"><data key=\"b\">25GB/s</data></edge>",
                       "<edge source=\"n12\" target=\"n2\"><data key=\"b\">10GB/s</data></edge>"},
                      "</graph></graphml>\n"};

} // namespace

TEST_CASE("names are in the order of the numbers in them") {
  const std::vector<std::string_view> names =
      split(" a gpu gpu0 gpu01 gpu1 gpu2 gpu10 n0g0 n0g9 n0g10 n1g0 n10g0 rack1 rack1.1 rack1.10 "
            "x18446744073709551616 x18446744073709551617",
            ' ');
  for (std::size_t a = 0; a < names.size(); ++a)
    for (std::size_t b = 0; b < names.size(); ++b) {
      CAPTURE(names[a], names[b]);
      CHECK(topologies::naturally_less(names[a], names[b]) == (a < b));
    }
}

TEST_CASE("NPUs are numbered by their names, switches behind them") {
  CHECK(names_of(read(text_of(csv))) ==
        Lines{"n0g0", "n0g1", "n0g10", "n1g0", "n1g1", "n1g10", "nvs0", "nvs1", "r0", "r1", "r10"});
  CHECK(names_of(read(text_of(dot))) ==
        Lines{"n0g1", "n0g2", "n0g10", "n1g0", "n1g1", "sw9", "sw10"});
  // Labels without numbers: ids have some.
  CHECK(names_of(read(text_of(graphml))) == Lines{"Bern", "Rome", "Oslo"});
}

TEST_CASE("rows in any order are the same network, with the same schedule") {
  for (const Listing& listing : {csv, dot, graphml}) {
    CAPTURE(listing.head);
    const Topology network = read(text_of(listing));
    const auto ring_of = [](const Topology& topology) {
      Outcome outcome = ring(
          topology,
          make_collective(topology, {CollectiveKind::all_gather, Bytes{1 << 20}, {}, 0, 2}), {});
      REQUIRE(outcome.schedule);
      return std::move(*outcome.schedule);
    };
    const Schedule schedule = ring_of(network);
    Random random(7);
    for (int round = 0; round < 20; ++round) {
      Listing shuffled = listing;
      random.shuffle(shuffled.nodes);
      random.shuffle(shuffled.links);
      const Topology other = read(text_of(shuffled));
      CHECK(topology_toml(other) == topology_toml(network));
      CHECK(other.parts().assumed == network.parts().assumed);
      CHECK(ring_of(other) == schedule);
    }
  }
}

TEST_CASE("NPUs without numbers stay as they are listed, and it is said which is which") {
  const Topology network = read("from,to\nc,tor1\ngpu1,tor0\nb,tor1\na,tor0\ntor0,tor1\nd,tor0\n");
  CHECK(names_of(network) == Lines{"c", "gpu1", "b", "a", "d", "tor0", "tor1"});
  CHECK(std::ranges::count(network.parts().assumed,
                           "numbers of NPUs: in the order of the file, as not every name has one: "
                           "c is 0, gpu1 is 1, b is 2, a is 3 and 1 more") == 1);
  // One NPU has no other order.
  CHECK(read("graph { a -- tor0; tor0 -- tor1 }").parts().assumed.front().starts_with("nodes: "));
}

TEST_CASE("what states an order keeps it") {
  CHECK(names_of(read(",g2,g1\ng2,0,5\ng1,5,0\n")) == Lines{"g2", "g1"});
  const std::string listed = "graph { numbering=listed; g2 -- sw1; g1 -- sw0; sw0 -- sw1 }";
  const Topology network = read(listed);
  CHECK(names_of(network) == Lines{"g2", "g1", "sw1", "sw0"});
  CHECK(network.link(LinkId{4}).from == NodeId{3});
  CHECK(read(topology_dot(network)).fingerprint() == network.fingerprint());
  CHECK(message_of([] { (void)read("graph {\n numbering=random; a -- b }"); }) ==
        "f:2:12: unknown numbering \"random\" (known: listed)");
}

} // namespace numbering_test
