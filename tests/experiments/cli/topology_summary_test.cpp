#include "experiments/driver/cli/topology_summary.hpp"

#include "experiments/driver/requests/network_json.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"

namespace topology_summary_test {

using namespace tutti;

TEST_CASE("a mesh, counted") {
  // 2 x 3: three vertical and four horizontal wires, two links each; corners have 2, the middle
  // columns 3 links; from corner to corner 1 + 2 hops.
  const TopologySummary summary = summarize(samples::mesh(2, 3));
  CHECK(summary.npus == 6);
  CHECK(summary.links == 14);
  CHECK(summary.npu_out_links.least == 2);
  CHECK(summary.npu_out_links.most == 3);
  REQUIRE(summary.classes.size() == 2); // by dimension
  CHECK(summary.classes[0].count + summary.classes[1].count == 14);
  REQUIRE(summary.diameter);
  CHECK(summary.diameter->hops == 3);
  CHECK(summary.unreachable.empty());
}

TEST_CASE("switches count as hops, not as NPUs") {
  const TopologySummary summary = summarize(samples::star(3));
  CHECK(summary.npus == 3);
  CHECK(summary.switches == 1);
  REQUIRE(summary.diameter);
  CHECK(summary.diameter->hops == 2);
  REQUIRE(summary.classes.size() == 2); // to the switch, from it
  CHECK(to_text(summary.classes[0].to) == "switch");
}

TEST_CASE("an NPU out of reach is named") {
  TopologyParts parts = samples::npus("one way", 2);
  parts.add_link(samples::link(0, 1));
  const TopologySummary summary = summarize(Topology(std::move(parts)));
  CHECK(summary.unreachable == "npu1 can't reach npu0");
  CHECK_FALSE(summary.diameter);
}

} // namespace topology_summary_test
