// The named machines against the numbers of their sources.
#include "topologies/list.hpp"

#include "tests/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace machines_test {

using namespace tutti;

namespace {

constexpr std::int64_t GB = 1'000'000'000;

/// Bandwidth out of a node; checks that as much comes in.
std::int64_t out_bandwidth(const Topology& t, NodeId node) {
  std::int64_t out = 0, in = 0;
  for (const LinkId link : t.out_links(node)) out += t.link(link).bandwidth.bytes_per_second;
  for (const LinkId link : t.in_links(node)) in += t.link(link).bandwidth.bytes_per_second;
  CHECK(in == out);
  return out;
}

/// Bandwidth of the links from one node to another.
std::int64_t between(const Topology& t, const std::string& from, const std::string& to) {
  std::int64_t sum = 0;
  for (const LinkId link : t.out_links(t.find_node(from)))
    if (t.link(link).to == t.find_node(to)) sum += t.link(link).bandwidth.bytes_per_second;
  return sum;
}

/// The number of steps from NPU 0 back to it over links of that bandwidth (0: any), never turning
/// back; checks that every NPU on the way has two of them.
int cycle_length(const Topology& t, std::int64_t bandwidth) {
  const auto neighbours = [&](NodeId node) {
    std::vector<NodeId> found;
    for (const LinkId link : t.out_links(node))
      if (bandwidth == 0 || t.link(link).bandwidth.bytes_per_second == bandwidth)
        found.push_back(t.link(link).to);
    REQUIRE(found.size() == 2);
    return found;
  };
  NodeId before{0}, now = neighbours(before)[0];
  int steps = 1;
  for (; now != NodeId{0} && steps < 100; ++steps) {
    const std::vector<NodeId> next = neighbours(now);
    before = std::exchange(now, next[next[0] == before ? 1 : 0]);
  }
  return steps;
}

} // namespace

TEST_CASE("every machine loads, names its source and bears its file's name") {
  const std::vector<Machine> all = machines();
  std::vector<std::string> names;
  for (const Machine& machine : all) {
    INFO(machine.name);
    names.push_back(machine.name);
    CHECK(machine.note.size() > 40);
    CHECK(machine.note.find("20") != std::string::npos); // the year of a source
    CHECK(make_topology(machine.name).name() == machine.name);
  }
  CHECK(names == std::vector<std::string>{"dgx1", "dgx1_nvlinks", "dgx1x2", "dgx2", "dgx2x2",
                                          "dgx_a100", "dgx_a100x2", "mi250x", "mi250x_x2", "ndv2",
                                          "ndv2x2", "ndv2x2_pcie", "ndv2x3", "ndv2x4",
                                          "ndv2x4_pcie", "tpu_v3x32", "z52", "z52_pcie"});
}

TEST_CASE("DGX-1 and NDv2: 32 directed links, six NVLinks of 25 GB/s a GPU") {
  for (const std::string name : {"dgx1", "ndv2"}) {
    const Topology t = make_topology(name);
    CHECK(t.npu_count() == 8);
    CHECK(t.link_count() == 32);
    for (std::uint32_t n = 0; n < 8; ++n) {
      CHECK(out_bandwidth(t, NodeId{n}) == 6 * 25 * GB);
      CHECK(t.out_links(NodeId{n}).size() == 4);
    }
    // SCCL, section 2.2: each group of four is fully connected, four links join the groups, and
    // the pairs with two NVLinks form a Hamiltonian cycle, so do those with one.
    int joining = 0;
    for (std::uint32_t a = 0; a < 8; ++a)
      for (std::uint32_t b = 0; b < 8; ++b) {
        const auto rate = between(t, "npu" + std::to_string(a), "npu" + std::to_string(b));
        if (a != b && a / 4 == b / 4) CHECK(rate > 0);
        if (a / 4 != b / 4 && rate > 0) ++joining;
      }
    CHECK(joining == 2 * 4);
    CHECK(cycle_length(t, 50 * GB) == 8);
    CHECK(cycle_length(t, 25 * GB) == 8);
  }
}

TEST_CASE("DGX-1 by NVLinks: the same bandwidth between all, in links of 25 GB/s") {
  const Topology whole = make_topology("dgx1"), split = make_topology("dgx1_nvlinks");
  CHECK(split.link_count() == 8 * 6);
  for (const Link& link : split.links()) CHECK(link.bandwidth.bytes_per_second == 25 * GB);
  for (std::uint32_t a = 0; a < 8; ++a)
    for (std::uint32_t b = 0; b < 8; ++b) {
      std::int64_t bandwidth = 0;
      for (const Link& link : split.links())
        if (link.from == NodeId{a} && link.to == NodeId{b})
          bandwidth += link.bandwidth.bytes_per_second;
      if (a != b)
        CHECK(bandwidth == between(whole, "npu" + std::to_string(a), "npu" + std::to_string(b)));
    }
}

TEST_CASE("NDv2 chassis with their PCIe: one NIC each, near GPUs 0 and 1") {
  for (const std::uint32_t chassis : {2U, 4U}) {
    const Topology t = make_topology(chassis == 2 ? "ndv2x2_pcie" : "ndv2x4_pcie");
    CHECK(t.npu_count() == 8 * chassis);
    // NVLinks, GPUs to PCIe switches, those to CPUs, between CPUs, to the NIC, to InfiniBand
    CHECK(t.link_count() == chassis * (32 + 16 + 8 + 2 + 2 + 2));
    const std::string last = std::to_string(chassis - 1);
    CHECK(between(t, "nic" + last, "infiniband") == GB * 25 / 2);
    CHECK(between(t, "infiniband", "nic" + last) == GB * 25 / 2);
    CHECK(between(t, "npu1", "pcie0") == GB * 13);
    CHECK(between(t, "pcie0", "nic0") == GB * 13);
    CHECK(between(t, "npu8", "npu9") == GB * 50);
  }
}

TEST_CASE("two NDv2 chassis: one InfiniBand link each way") {
  const Topology t = make_topology("ndv2x2");
  CHECK(t.npu_count() == 16);
  CHECK(t.link_count() == 2 * 32 + 2);
  CHECK(between(t, "npu8", "npu1") == GB * 25 / 2);
  CHECK(between(t, "npu0", "npu9") == GB * 25 / 2);
  CHECK(between(t, "npu1", "npu8") == 0);
  CHECK(between(t, "npu8", "npu12") == 50 * GB);
  CHECK(t.link(t.out_links(NodeId{0}).back()).latency == Time{1'300'000});
}

TEST_CASE("three and four NDv2 chassis: GPUs 0 to a switch, the switch to GPUs 1") {
  for (const std::uint32_t chassis : {3U, 4U}) {
    const Topology t = make_topology("ndv2x" + std::to_string(chassis));
    CHECK(t.npu_count() == 8 * chassis);
    CHECK(t.node_count() == 8 * chassis + 1);
    CHECK(t.link_count() == chassis * (32 + 2)); // TE-CCL, Table 2: 32 a chassis
    const NodeId hub = t.find_node("infiniband");
    CHECK(t.node(hub).can == Abilities{false, false, false});
    std::set<std::uint32_t> senders, receivers;
    for (const LinkId link : t.in_links(hub)) senders.insert(t.link(link).from.value);
    for (const LinkId link : t.out_links(hub)) receivers.insert(t.link(link).to.value);
    std::set<std::uint32_t> zeros, ones;
    for (std::uint32_t c = 0; c < chassis; ++c) {
      zeros.insert(8 * c);
      ones.insert(8 * c + 1);
    }
    CHECK(senders == zeros);
    CHECK(receivers == ones);
    const Topology box = make_topology("ndv2");
    const auto npu = [](std::uint32_t n) { return "npu" + std::to_string(n); };
    for (std::uint32_t i = 0; i < t.npu_count(); ++i)
      for (std::uint32_t j = 0; j < t.npu_count(); ++j)
        CHECK(between(t, npu(i), npu(j)) ==
              (i / 8 == j / 8 ? between(box, npu(i % 8), npu(j % 8)) : 0));
    for (const Link& link : t.links()) {
      const bool outside = link.from == hub || link.to == hub;
      CHECK(link.latency == Time{outside ? 1'300'000 : 700'000});
      if (outside) CHECK(link.bandwidth.bytes_per_second == GB * 25 / 2);
    }
  }
}

TEST_CASE("two DGX-1: an InfiniBand link each way for each pair of GPUs, three hops at most") {
  const Topology t = make_topology("dgx1x2"), box = make_topology("dgx1");
  CHECK(t.npu_count() == 16);
  CHECK(t.link_count() == 2 * 32 + 2 * 4);
  const auto npu = [](std::uint32_t n) { return "npu" + std::to_string(n); };
  const auto hops = [&](std::uint32_t i, std::uint32_t j) { // inside a box: at most two
    return i == j ? 0 : between(box, npu(i), npu(j)) > 0 ? 1 : 2;
  };
  std::set<std::uint32_t> pairs;
  std::vector<std::uint32_t> adapters;
  for (std::uint32_t i = 0; i < 8; ++i) {
    CHECK(between(t, npu(i), npu(8 + i)) == between(t, npu(8 + i), npu(i)));
    if (between(t, npu(i), npu(8 + i)) == 0) continue;
    CHECK(between(t, npu(i), npu(8 + i)) == GB * 25 / 2);
    pairs.insert(i / 2);
    adapters.push_back(i);
  }
  CHECK(pairs.size() == 4);
  for (std::uint32_t i = 0; i < 8; ++i)
    for (std::uint32_t j = 0; j < 8; ++j) {
      CHECK(std::any_of(adapters.begin(), adapters.end(),
                        [&](std::uint32_t a) { return hops(i, a) + 1 + hops(a, j) <= 3; }));
      for (const std::uint32_t first : {0U, 8U})
        CHECK(between(t, npu(first + i), npu(first + j)) == between(box, npu(i), npu(j)));
    }
}

TEST_CASE("DGX-2: 125 GB/s from every GPU to the NVSwitch") {
  const Topology one = make_topology("dgx2");
  CHECK(one.npu_count() == 16);
  CHECK(one.link_count() == 32);
  for (std::uint32_t n = 0; n < 16; ++n) CHECK(out_bandwidth(one, NodeId{n}) == 125 * GB);

  const Topology two = make_topology("dgx2x2");
  CHECK(two.node_count() == 34);
  CHECK(two.link_count() == 2 * 32 + 2 * 8);
  CHECK(between(two, "npu1", "npu16") == GB * 25 / 2);
  CHECK(between(two, "npu15", "npu30") == GB * 25 / 2);
  CHECK(between(two, "npu17", "npu0") == GB * 25 / 2);
  CHECK(between(two, "npu0", "npu17") == 0);
  CHECK(between(two, "npu20", "nvswitch1") == 125 * GB);
}

TEST_CASE("DGX A100: NVSwitch 300, PCIe switch 32, memory 32, rails 25 GB/s") {
  for (const std::uint32_t nodes : {1U, 2U}) {
    const Topology t = make_topology(nodes == 1 ? "dgx_a100" : "dgx_a100x2");
    CHECK(t.npu_count() == 8 * nodes);
    for (std::uint32_t n = 0; n < t.npu_count(); ++n)
      CHECK(out_bandwidth(t, NodeId{n}) == (300 + 32) * GB);
    for (std::uint32_t n = 0; n < nodes; ++n) {
      const NodeId memory = t.find_node("memory" + std::to_string(n));
      CHECK(t.node(memory).can == Abilities{true, true, false});
      CHECK(out_bandwidth(t, memory) == 4 * 32 * GB);
      CHECK(out_bandwidth(t, t.find_node("nvswitch" + std::to_string(n))) == 8 * 300 * GB);
    }
    for (std::uint32_t p = 0; p < 4 * nodes; ++p) // two GPUs, memory, and with rails two NICs
      CHECK(out_bandwidth(t, t.find_node("pcie" + std::to_string(p))) ==
            (2 * 32 + 32 + (nodes > 1 ? 2 * 25 : 0)) * GB);
  }
  const Topology two = make_topology("dgx_a100x2");
  CHECK(two.node_count() == 16 + 2 + 8 + 2 + 8);
  // Rail r joins the PCIe switches of GPU r of both nodes.
  for (std::uint32_t r = 0; r < 8; ++r) {
    const std::string rail = "rail" + std::to_string(r);
    CHECK(between(two, "pcie" + std::to_string(r / 2), rail) == 25 * GB);
    CHECK(between(two, "pcie" + std::to_string(4 + r / 2), rail) == 25 * GB);
    CHECK(out_bandwidth(two, two.find_node(rail)) == 2 * 25 * GB);
  }
  CHECK(between(two, "npu9", "pcie4") == 32 * GB);
}

TEST_CASE("Gigabyte Z52: a ring of eight, two xGMI islands joined by PCIe") {
  const Topology t = make_topology("z52");
  CHECK(t.npu_count() == 8);
  CHECK(t.link_count() == 16);
  CHECK(cycle_length(t, 0) == 8);
  // PCIe stays in a socket, {0,1,2,3} or {4,5,6,7}; xGMI in an island, {0,2,3,5} or {1,4,6,7}.
  const std::set<std::uint32_t> island{0, 2, 3, 5};
  int pcie = 0;
  for (const Link& link : t.links()) {
    const bool same_socket = link.from.value / 4 == link.to.value / 4;
    const bool same_island = island.contains(link.from.value) == island.contains(link.to.value);
    if (link.bandwidth.bytes_per_second == 27 * GB) {
      ++pcie;
      CHECK(same_socket);
      CHECK_FALSE(same_island);
    } else {
      CHECK(link.bandwidth.bytes_per_second == 33 * GB);
      CHECK(same_island);
    }
  }
  CHECK(pcie == 4);
}

TEST_CASE("Z52 with PCIe as buses: six directions share 27 GB/s in each socket") {
  const Topology t = make_topology("z52_pcie");
  CHECK(t.npu_count() == 8);
  CHECK(t.link_count() == 2 * (6 + 6));
  REQUIRE(t.groups().size() == 2);
  for (const SharedGroup& bus : t.groups()) {
    CHECK(bus.bandwidth.bytes_per_second == 27 * GB);
    // SCCL, section 5.2.2: ({(0,1), (1,0), (1,2), (2,1), (1,3), (3,1)}, 1) for the left socket
    const std::uint32_t hub = &bus == t.groups().data() ? 1 : 5, socket = hub / 4;
    std::set<std::pair<std::uint32_t, std::uint32_t>> found, expected;
    for (const LinkId link : bus.links)
      found.insert({t.link(link).from.value, t.link(link).to.value});
    for (std::uint32_t n = 4 * socket; n < 4 * socket + 4; ++n)
      if (n != hub) expected.insert({{n, hub}, {hub, n}});
    CHECK(found == expected);
  }
}

TEST_CASE("MI250X: 56 directed links, seven units of 50 GB/s a die") {
  const Topology t = make_topology("mi250x");
  CHECK(t.npu_count() == 16);
  CHECK(t.link_count() == 56); // TE-CCL, Table 2
  for (std::uint32_t n = 0; n < 16; ++n) CHECK(out_bandwidth(t, NodeId{n}) == 7 * 50 * GB);
  CHECK(between(t, "npu6", "npu7") == 200 * GB);
  CHECK(between(t, "npu3", "npu7") == 100 * GB);
  CHECK(between(t, "npu1", "npu10") == 50 * GB);
}

TEST_CASE("two MI250X nodes: a NIC for every package, one switch") {
  const Topology t = make_topology("mi250x_x2"), box = make_topology("mi250x");
  CHECK(t.npu_count() == 32);
  CHECK(t.node_count() == 32 + 16 + 1);
  CHECK(t.link_count() == 2 * 56 + 2 * (32 + 16)); // TE-CCL, Table 2: 56 a chassis
  const auto npu = [](std::uint32_t n) { return "npu" + std::to_string(n); };
  for (std::uint32_t i = 0; i < 32; ++i) {
    CHECK(out_bandwidth(t, NodeId{i}) == (7 * 50 + 25) * GB);
    CHECK(between(t, npu(i), "nic" + std::to_string(i / 2)) == 25 * GB);
    for (std::uint32_t j = 0; j < 32; ++j)
      CHECK(between(t, npu(i), npu(j)) ==
            (i / 16 == j / 16 ? between(box, npu(i % 16), npu(j % 16)) : 0));
  }
  for (std::uint32_t n = 0; n < 16; ++n) {
    const std::string nic = "nic" + std::to_string(n);
    CHECK(between(t, nic, "infiniband") == 25 * GB);
    CHECK(out_bandwidth(t, t.find_node(nic)) == (2 + 1) * 25 * GB);
  }
  CHECK(out_bandwidth(t, t.find_node("infiniband")) == 16 * 25 * GB);
  for (const Link& link : t.links()) {
    const bool inside = link.from.value < 32 && link.to.value < 32;
    CHECK(link.latency == Time{inside ? 700'000 : 650'000});
  }
}

} // namespace machines_test
