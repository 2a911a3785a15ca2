#include "sim/unwinding.hpp"

#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace unwinding_test {

using namespace tutti;

namespace {

std::vector<NodeId> all_npus(const Topology& topology) {
  std::vector<NodeId> npus;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) npus.emplace_back(n);
  return npus;
}

} // namespace

TEST_CASE("a switch unwound with degree d joins each NPU to the next d") {
  // TACOS, Fig. 13: four NPUs.
  const Topology star = samples::star(4);
  CHECK(highest_degree(star, all_npus(star)) == 3);
  for (const std::uint32_t degree : {1U, 2U, 3U}) {
    const Unwound made = unwound(star, all_npus(star), {degree}, Bytes{1'000});
    CHECK(made.network.node_count() == 4);
    REQUIRE(made.network.link_count() == 4 * degree);
    for (std::uint32_t l = 0; l < made.network.link_count(); ++l) {
      const Link& link = made.network.link(LinkId{l});
      const std::uint32_t distance = (link.to.value + 4 - link.from.value) % 4;
      CHECK((distance >= 1 && distance <= degree));
      // The port's bandwidth is shared, and both of its latencies are on the way.
      CHECK(link.bandwidth.bytes_per_second == samples::bandwidth.bytes_per_second / degree);
      CHECK(link.latency == Time{2 * samples::alpha.ps});
      CHECK(made.busy_latency[l] == Time{degree * samples::alpha.ps});
      REQUIRE(made.paths[l].size() == 2);
      CHECK(star.link(made.paths[l][0]).from == link.from);
      CHECK(star.link(made.paths[l][0]).to == star.link(made.paths[l][1]).from);
      CHECK(star.link(made.paths[l][1]).to == link.to);
    }
  }
}

TEST_CASE("a degree too high for a switch counts as its highest, 0 leaves switches out") {
  const Topology rfs = make_topology("rfs:2x3x2"); // 12 NPUs, switches with two ports
  CHECK(highest_degree(rfs, all_npus(rfs)) == 1);
  const std::size_t direct = 12 * (1 + 2);
  CHECK(unwound(rfs, all_npus(rfs), {0}, Bytes{1}).network.link_count() == direct);
  CHECK(unwound(rfs, all_npus(rfs), {1}, Bytes{1}).network.link_count() == direct + 12);
  CHECK(unwound(rfs, all_npus(rfs), {5}, Bytes{1}).network.link_count() == direct + 12);
}

TEST_CASE("who doesn't take part is between those who do") {
  const Topology line = samples::mesh(1, 4);
  const std::vector<NodeId> ends{NodeId{0}, NodeId{3}};
  const Unwound made = unwound(line, ends, {1}, Bytes{100'000}); // 2 us on a link
  REQUIRE(made.network.link_count() == 2);
  CHECK(made.paths[0].size() == 3);
  // Two NPUs store what passes through them.
  CHECK(made.network.link(LinkId{0}).latency == Time{3 * samples::alpha.ps + 2 * 2'000'000});
  CHECK(made.network.link(LinkId{0}).bandwidth == samples::bandwidth);
}

TEST_CASE("links in a shared group get even shares of it") {
  TopologyParts parts = samples::npus("bus", 3);
  parts.add_duplex(samples::link(0, 1));
  parts.add_duplex(samples::link(1, 2));
  parts.groups.push_back(
      {"bus", {LinkId{0}, LinkId{2}}, Bandwidth{samples::bandwidth.bytes_per_second / 2}});
  const Topology topology(std::move(parts));
  const Unwound made = unwound(topology, all_npus(topology), {0}, Bytes{1});
  REQUIRE(made.network.link_count() == 4);
  CHECK(made.network.groups().empty());
  const std::int64_t full = samples::bandwidth.bytes_per_second;
  CHECK(made.network.link(LinkId{0}).bandwidth.bytes_per_second == full / 4);
  CHECK(made.network.link(LinkId{1}).bandwidth.bytes_per_second == full);
  CHECK(made.network.link(LinkId{2}).bandwidth.bytes_per_second == full / 4);
}

TEST_CASE("paths through a network of switches spread over equal ones") {
  const Topology tree = make_topology("fat_tree:4"); // 16 NPUs, two to a switch
  const Unwound made = unwound(tree, all_npus(tree), {2}, Bytes{1'000'000});
  std::vector<int> uses(tree.link_count());
  for (const std::vector<LinkId>& path : made.paths)
    for (const LinkId link : path) ++uses[link.value];
  CHECK(*std::ranges::max_element(uses) == 2); // what an NPU's own link must carry
}

TEST_CASE("two fabrics between the same NPUs are unwound each by itself") {
  TopologyParts parts = samples::npus("planes", 4);
  for (const std::int64_t times : {1, 10}) {
    const NodeId plane = parts.add_node(
        {"plane" + std::to_string(times), NodeKind::switching, {false, false, false}, {}});
    for (std::uint32_t npu = 0; npu < 4; ++npu) {
      Link port = samples::link(npu, plane.value);
      port.bandwidth.bytes_per_second *= times;
      parts.add_duplex(port);
    }
  }
  const Topology topology(std::move(parts));
  const Unwound made = unwound(topology, all_npus(topology), {1}, Bytes{1'000'000});
  std::multiset<std::tuple<std::uint32_t, std::int64_t>> ports, planned;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    if (const Link& link = topology.link(LinkId{l}); link.from.value < 4)
      ports.emplace(link.from.value, link.bandwidth.bytes_per_second);
  for (const Link& link : made.network.links())
    planned.emplace(link.from.value, link.bandwidth.bytes_per_second);
  CHECK(planned == ports);
}

TEST_CASE("carried back to the topology, a schedule takes the paths that its links stand for") {
  const Topology star = samples::star(3);
  const Unwound made = unwound(star, all_npus(star), {1}, Bytes{1});
  Schedule schedule(made.network.link_count());
  schedule.push(ChunkId{7}, LinkId{1}, Op::copy);
  schedule.push(ChunkId{5}, LinkId{0}, Op::reduce);
  const Schedule back = through_switches(schedule, made, star);
  REQUIRE(back.size() == 2);
  CHECK(back[0].chunk == ChunkId{7});
  CHECK(back[1].op == Op::reduce);
  const auto links = back.paths().links(back[0].path);
  CHECK(std::vector<LinkId>(links.begin(), links.end()) == made.paths[1]);
}

TEST_CASE("a network with its switches unwound has their links once, and all else as it was") {
  // TACOS, Fig. 13: a port's bandwidth is divided, a switch has its latency once.
  const Topology star = samples::star(5);
  const std::int64_t full = samples::bandwidth.bytes_per_second;
  using Ends = std::tuple<std::uint32_t, std::uint32_t, std::int64_t>;
  const auto links_of = [](const Topology& network) {
    std::multiset<Ends> links;
    for (const Link& link : network.links()) {
      links.emplace(link.from.value, link.to.value, link.bandwidth.bytes_per_second);
      CHECK(link.latency == samples::alpha);
    }
    return links;
  };
  std::multiset<Ends> next_two, ring;
  for (std::uint32_t i = 0; i < 5; ++i) {
    next_two.insert({{i, (i + 1) % 5, full / 2}, {i, (i + 2) % 5, full / 2}});
    ring.insert({{i, (i + 1) % 5, full / 2}, {i, (i + 4) % 5, full / 2}});
  }
  CHECK(links_of(unwound_network(star, {2})) == next_two);
  CHECK(links_of(unwound_network(star, {.both_ways = true})) == ring);
  CHECK(links_of(unwound_network(samples::star(2), {.both_ways = true})) ==
        std::multiset<Ends>{{0, 1, full}, {1, 0, full}});
  CHECK_THROWS_AS(unwound_network(samples::mesh(2, 2), {1}), InputError);
}

TEST_CASE("unwind= is a key of every topology") {
  const Topology rfs = make_topology("rfs:2x4x8"), made = make_topology("rfs:2x4x8,unwind=both");
  CHECK(made.name() == "rfs:2x4x8,unwind=both");
  CHECK(made.node_count() == 64);
  CHECK(std::ranges::equal(made.shape(), rfs.shape()));
  CHECK(made.node(NodeId{63}).name == rfs.node(NodeId{63}).name);
  std::size_t direct = 0;
  for (const Link& link : rfs.links()) direct += link.from.value < 64 && link.to.value < 64 ? 1 : 0;
  CHECK(made.link_count() == direct + 2 * 64);
  CHECK(make_topology("switch:6,without=npu2,unwind=3").link_count() == 15);
  for (const char* wrong : {"switch:4,unwind=0", "switch:4,unwind=ring", "ring:4,unwind=1"})
    CHECK_THROWS_AS(make_topology(wrong), InputError);
}

} // namespace unwinding_test
