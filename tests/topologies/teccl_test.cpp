// Networks by TE-CCL's inputs: the links that its names stand for, counted by hand from its code,
// and what is wrong with one, by its place.
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/topologies/damaged.hpp"
#include "topologies/import/list.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace teccl_test {

using namespace tutti;
using Catch::Matchers::StartsWith;

namespace {

Topology teccl_network(const std::string& text, std::int64_t nodes = 1) {
  const topologies::ForeignFormat& format =
      *std::ranges::find(topologies::foreign_formats(), "teccl", &topologies::ForeignFormat::name);
  REQUIRE(topologies::is_teccl(text));
  return topologies::read_foreign(format, {text, "f", nodes});
}

/// As its samples have it.
std::string input(const std::string& topology, const std::string& instance = "\"collective\": 1") {
  return "{\"TopologyParams\": {" + topology + "}, \"GurobiParams\": {\"time_limit\": 2}, " +
         "\"InstanceParams\": {" + instance + "}}";
}
Topology teccl_named(const std::string& topology) { return teccl_network(input(topology)); }
std::string teccl_refusal(const std::string& text) {
  return message_of([&] { (void)teccl_network(text); });
}

std::size_t teccl_links(const Topology& network, std::int64_t half_gigabytes,
                        std::int64_t latency_ns) {
  std::size_t links = 0;
  for (const Link& link : network.links())
    if (link.bandwidth.bytes_per_second == half_gigabytes * 500'000'000 &&
        link.latency.ps == latency_ns * 1000)
      ++links;
  return links;
}

bool has_teccl_link(const Topology& network, const std::string& from, const std::string& to) {
  for (const LinkId link : network.out_links(network.find_node(from)))
    if (network.node(network.link(link).to).name == to) return true;
  return false;
}

} // namespace

TEST_CASE("TE-CCL's NDv2: two chassis, and any other number around a switch") {
  const std::string two =
      "\"name\": \"NDv2\", \"option\": 1, \"chassis\": 2, \"chunk_size\": 0.0625";
  CHECK(teccl_named(two).fingerprint() == make_topology("ndv2x2").fingerprint());
  CHECK(teccl_named(two).parts().note == "TE-CCL's NDv2, 2 chassis.");

  const Topology three =
      teccl_network(input("\"name\": \"NDv2\", \"chassis\": 3", "\"switch_copy\": false"));
  CHECK(three.npu_count() == 24);
  CHECK(three.node_count() == 25);
  CHECK(teccl_links(three, 100, 700) == 3 * 16); // 50 GB/s
  CHECK(teccl_links(three, 50, 700) == 3 * 16);
  CHECK(teccl_links(three, 25, 1300) == 2 * 3);
  CHECK(three.link_count() == make_topology("ndv2x3").link_count());
  CHECK(has_teccl_link(three, "npu16", "infiniband"));
  CHECK(has_teccl_link(three, "infiniband", "npu17"));
  CHECK_FALSE(has_teccl_link(three, "infiniband", "npu16"));
  CHECK_FALSE(three.node(NodeId{24}).can.copy);
  CHECK(three.parts().assumed.empty());

  const Topology one = teccl_named("\"name\": \"NDv2\"");
  CHECK(one.link_count() == 32 + 2);
  CHECK(one.node(NodeId{8}).can.copy);
  CHECK(one.parts().assumed ==
        std::vector<std::string>{
            "chassis: 1, TE-CCL's default", "switches: they copy, TE-CCL's default",
            "infiniband: a way from GPU 0 to GPU 1 beside NVLink, as in TE-CCL's code"});
}

TEST_CASE("TE-CCL's DGX1, DGX2, AMD and Mesh") {
  const Topology dgx1 = teccl_named("\"name\": \"DGX1\", \"alpha\": [7e-7, 0]");
  CHECK(dgx1.fingerprint() == make_topology("dgx1").fingerprint());
  CHECK(teccl_links(teccl_named("\"name\": \"DGX1\", \"alpha\": [2e-6, 0]"), 100, 2000) == 16);

  const Topology dgx2 = teccl_network(input("\"name\": \"DGX2\"", "\"switch_copy\": false"));
  CHECK(dgx2.fingerprint() == make_topology("dgx2x2").fingerprint());
  CHECK(dgx2.parts().assumed.front() == "chassis: 2, as always in TE-CCL");
  CHECK(teccl_links(teccl_named("\"name\": \"DGX2\""), 250, 350) == 2 * 32);
  CHECK(teccl_named("\"name\": \"DGX2\"").node(NodeId{33}).can.copy);

  CHECK(teccl_links(teccl_named("\"name\": \"AMD\", \"chassis\": 1"), 400, 0) == 16); // 200 GB/s
  const Topology amd = teccl_network(input(
      "\"name\": \"AMD\", \"chassis\": 2, \"alpha\": [7e-7, 6.5e-7]", "\"switch_copy\": false"));
  CHECK(amd.npu_count() == 32);
  CHECK(teccl_links(amd, 400, 700) == 2 * 16);
  CHECK(teccl_links(amd, 200, 700) == 2 * 8);
  CHECK(teccl_links(amd, 100, 700) == 2 * 32);
  CHECK(teccl_links(amd, 50, 650) == 2 * (32 + 16));
  CHECK(amd.link_count() == make_topology("mi250x_x2").link_count());
  CHECK(has_teccl_link(amd, "npu31", "nic15"));

  // 4 rows of 3 links, 3 joints of rows, 3 columns' worth of 4.
  const Topology mesh = teccl_named("\"name\": \"Mesh\", \"chunk_size\": 100.0, \"alpha\": [0, 0]");
  CHECK(mesh.npu_count() == 16);
  CHECK(teccl_links(mesh, 200, 0) == 2 * (12 + 3 + 12));
  CHECK(has_teccl_link(mesh, "npu3", "npu4"));
  CHECK(teccl_named("\"name\": \"Mesh\", \"side_length\": 6").npu_count() == 36);
}

TEST_CASE("what is wrong with TE-CCL's inputs is named by where it is") {
  CHECK(teccl_refusal(input("\"name\": \"Torus\"")) ==
        "f:1:29: TopologyParams.name: unknown topology \"Torus\" (known: AMD, DGX1, DGX2, Mesh, "
        "NDv2)");
  CHECK(teccl_refusal(input("\"name\": \"DGX2\", \"chassis\": 4")) ==
        "f:1:48: TopologyParams.chassis: DGX2 is always 2 chassis in TE-CCL, not 4");
  CHECK(teccl_refusal(input("\"name\": \"DGX1\", \"alpha\": [1]")) ==
        "f:1:46: TopologyParams.alpha: 1 values: one of links between GPUs and one of links to "
        "switches "
        "are expected");
  CHECK(teccl_refusal(input("\"name\": \"DGX1\", \"alpha\": [1e-14, 0]")) ==
        "f:1:47: TopologyParams.alpha[0]: less than a picosecond");
  CHECK(teccl_refusal(input("\"name\": \"DGX1\", \"chunk_size\": 0")) ==
        "f:1:51: TopologyParams.chunk_size: a chunk of no bytes");
  for (const char* wrong :
       {"\"name\": 1", "\"chassis\": 0", "\"name\": \"NDv2\", \"chassis\": 1.5", "\"alpha\": 0",
        "\"name\": \"NDv2\", \"chassis\": 1000000000", "\"name\": \"Mesh\", \"side_length\": 1e9",
        "\"capacity\": []", "\"name\": \"Mesh\", \"chassis\": 2"})
    CHECK_THAT(teccl_refusal(input(wrong)), ContainsSubstring(": TopologyParams"));
  CHECK_THAT(teccl_refusal(input("", "\"switch_copy\": 1")),
             StartsWith("f:1:93: InstanceParams.switch_copy: "));
  CHECK_THAT(teccl_refusal("{\"TopologyParams\": {}, \"InstanceParams\": []}"),
             StartsWith("f:1:42: InstanceParams: "));
  CHECK_THAT(teccl_refusal("{\"TopologyParams\": []}"), StartsWith("f:1:20: TopologyParams: "));
  CHECK_THAT(message_of([] { (void)teccl_network(input("\"name\": \"NDv2\""), 2); }),
             StartsWith("f:2: "));
}

TEST_CASE("damaged inputs of TE-CCL are refused or read, and nothing else") {
  const std::string text = input("\"name\": \"AMD\", \"chassis\": 3, \"chunk_size\": 0.5, "
                                 "\"alpha\": [7e-7, 1e-6], \"side_length\": 3",
                                 "\"switch_copy\": true");
  CHECK(refused_when_damaged(text, " \n,{}[]:\"-x0189e\xFF", 300, read_if_known) > 100);
}

} // namespace teccl_test
