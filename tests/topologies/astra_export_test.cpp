// Networks as ASTRA-sim's network files: read back they are the same, and what such a file can't
// say is refused.
#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "topologies/export/list.hpp"
#include "topologies/import/list.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace astra_export_test {

using namespace tutti;
using Catch::Matchers::Contains;

namespace {

Topology written_and_read(const Topology& network) {
  const std::string text = topology_astra(network);
  const topologies::ForeignFormat* format = topologies::foreign_format(text);
  REQUIRE(format != nullptr);
  CHECK(format->name == "astra");
  return topologies::read_foreign(*format, {text, "f"});
}

/// Without the order of links and switches.
auto links_in_order(const Topology& network) {
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::int64_t, std::int64_t>> links;
  for (const Link& link : network.links())
    links.emplace_back(link.from.value, link.to.value, link.latency.ps,
                       link.bandwidth.bytes_per_second);
  std::ranges::sort(links);
  return links;
}

std::string astra_refusal(const Topology& network) {
  return message_of([&] { (void)topology_astra(network); });
}
std::string astra_refusal(const std::string& network) {
  return astra_refusal(make_topology(network));
}

/// All but its place, "ASTRA-sim's network file can't say it: ".
std::string astra_reason(const std::string& network) {
  const std::string message = astra_refusal(network);
  return message.substr(std::min(message.size(), message.find(": ") + 2));
}

} // namespace

TEST_CASE("products are written as ASTRA-sim's networks, exactly") {
  CHECK(topology_astra(make_topology("rfs:2x8x4,bandwidth=200GiB/s+100GiB/s+50.5GiB/s,"
                                     "latency=50ns+500.25ns+2us")) ==
        "# rfs:2x8x4,bandwidth=200GiB/s+100GiB/s+50.5GiB/s,latency=50ns+500250ps+2us\n"
        "topology: [ Ring, FullyConnected, Switch ]\n"
        "npus_count: [ 2, 8, 4 ]\n"
        "bandwidth: [ 200, 100, 50.5 ]  # 2^30 bytes/s\n"
        "latency: [ 50.0, 500.25, 2000.0 ]  # ns\n");
  for (const char* name :
       {"ring:8", "ring:2", "ring:3", "fully_connected:2", "fully_connected:3", "fully_connected:5",
        "switch:8", "switch:2", "torus2d:4x2", "torus3d:3x4x5", "two_level_switch:4x3",
        "rfs:3x3x3,bandwidth=1234567891B/s+50GB/s+333333333333B/s,latency=1ps+0ps+123456789ps"}) {
    const Topology network = make_topology(name);
    CAPTURE(name);
    CHECK(written_and_read(network).fingerprint() == network.fingerprint());
  }
  // The same links, by other numbers.
  for (const char* name :
       {"dgx_h100:1,nvls=off", "mi300x:1", "hypercube:4", "dgx_h100:2,npus=4,nvls=off"}) {
    const Topology network = make_topology(name);
    CAPTURE(name);
    CHECK(links_in_order(written_and_read(network)) == links_in_order(network));
  }
  CHECK_THAT(topology_astra(make_topology("mi300x:1")),
             Contains("# left out: NPUs: mi300x\n# left out: links: xgmi3\n"));
}

TEST_CASE("what ASTRA-sim's networks can't say is refused by what it is") {
  CHECK(astra_refusal("dgx_h100:1") == "ASTRA-sim's network file can't say it: nvswitch0 can copy, "
                                       "and a Switch only forwards");
  CHECK(astra_reason("ring:8,directions=1") ==
        "dimension 0 is no Ring: there is no link npu0>npu7");
  CHECK(astra_reason("mesh2d:4x2") == "dimension 0 is no Ring: there is no link npu0>npu3");
  CHECK(astra_reason("fully_connected:8,without-link=npu1>npu3") ==
        "dimension 0 is no Ring or FullyConnected: there is no link npu1>npu3");
  CHECK(astra_reason("switch:4,without-link=npu0>switch0") ==
        "switch0 has other links in than out");
  CHECK(astra_reason("switch:4,without-link=npu0>switch0+switch0>npu0") ==
        "the NPUs at switch0 aren't all those of one line of a dimension");
  CHECK(astra_reason("torus2d:4x4,without=npu15") == "15 NPUs don't fill the grid of 4x4");
  CHECK(astra_reason("fat_tree:4") == "switch0 and switch9 are switches with a link between them");
  CHECK_THAT(astra_reason("dgx_h100:2,nics=4,nvls=off"), Contains("shares a bandwidth"));
  CHECK_THAT(astra_reason("ndv2"),
             Contains("in dimension 0 npu0>npu1 has 50GB/s, but npu0>npu2 has "
                      "25GB/s"));
  CHECK(astra_reason("ring:4,bandwidth=1kB/s") ==
        "a bandwidth of 1kB/s, which has no exact value in its units");
  CHECK(astra_reason("ring:4,latency=1001s") == "a latency of 1001s is too long");

  TopologyParts parts = make_topology("torus2d:3x2").parts();
  std::ranges::swap(parts.coordinates[1], parts.coordinates[2]);
  CHECK_THAT(astra_refusal(Topology(parts)), Contains("npu1 has coordinates 2,0, and NPUs"));
  parts = make_topology("torus2d:3x2").parts();
  parts.links[0].dimension = 1;
  CHECK_THAT(astra_refusal(Topology(parts)),
             Contains("npu0>npu1 is of dimension 1, but is along dimension 0"));
  parts = make_topology("torus2d:3x2").parts();
  parts.add_link({NodeId{0}, NodeId{4}, Time{}, Bandwidth{1}});
  CHECK_THAT(astra_refusal(Topology(parts)),
             Contains("npu0>npu4 is along more than one dimension"));
  parts = make_topology("switch:3").parts();
  parts.add_link(parts.links[0]);
  CHECK_THAT(astra_refusal(Topology(parts)), Contains("other links in than out"));
  parts = make_topology("ring:5").parts();
  parts.add_link(parts.links[0]);
  CHECK_THAT(astra_refusal(Topology(parts)), Contains("there is more than one link npu0>npu1"));
  parts = make_topology("ring:5").parts();
  parts.nodes[3].can.reduce = false;
  CHECK_THAT(astra_refusal(Topology(parts)), Contains("npu3 can't reduce"));
  parts = make_topology("ring:5").parts();
  parts.links.clear();
  CHECK_THAT(astra_refusal(Topology(parts)), Contains("dimension 0 has no links"));
}

} // namespace astra_export_test
