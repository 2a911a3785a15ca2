#include "synth/teccl/network.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/synth/teccl/networks.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

namespace network_test {

using namespace tutti;

namespace {

/// What a chunk of 25 KB meets between two nodes.
struct Seen {
  std::uint32_t delay = 0, window = 0, most = 0;
  bool operator==(const Seen&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Seen& seen) {
  return out << seen.delay << ' ' << seen.window << ' ' << seen.most;
}

Seen seen(const EpochNetwork& network, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t lane = samples::lane_between(network, from, to);
  const EpochLimit& limit = network.limits[network.limits_of[lane].front().value];
  return {network.lanes[lane].delay, limit.window, limit.most};
}

/// 25 KB take 0.5 us between 0 and 1 (50 GB/s), 1 us between 0 and 2 (25 GB/s); latency 0.7 us.
EpochNetwork dgx1(const EpochSettings& settings) {
  return epoch_network(make_topology("dgx1"), Bytes{25'000}, settings);
}

Time us(double value) { return Time{static_cast<std::int64_t>(value * 1e6)}; }

} // namespace

TEST_CASE("epoch network: DGX-1 by the fastest link") {
  const EpochNetwork network = dgx1({});
  CHECK(network.epoch == us(0.5));
  CHECK(network.node_count() == 8);
  CHECK(network.lanes.size() == 32);
  CHECK(network.limits.size() == 32);
  // Latency: 1.4 epochs, so 2.
  CHECK(seen(network, 0, 1) == Seen{3, 1, 1});
  CHECK(seen(network, 0, 2) == Seen{4, 2, 1});
  CHECK(network.reach() == 4);
  // 0 > 1 > 3 > 7 takes 3 + 3 + 4, as does 0 > 3 > 7 with two slow links: 8.
  CHECK(network.distances_from({0}) == std::vector<std::uint32_t>{0, 3, 4, 4, 3, 6, 7, 7});
  for (std::uint32_t l = 0; l < 32; ++l) {
    const Lane& lane = network.lanes[l];
    CHECK(std::ranges::binary_search(network.out_lanes[lane.from], LaneId{l}));
    CHECK(std::ranges::binary_search(network.in_lanes[lane.to], LaneId{l}));
    if (l == 0) continue;
    const Lane& before = network.lanes[l - 1];
    CHECK(std::pair(before.from, before.to) < std::pair(lane.from, lane.to));
  }
  CHECK(network.limits[0].name == "npu0>npu1");
}

TEST_CASE("epoch network: epochs of other lengths") {
  EpochSettings settings;
  SECTION("the slowest link: two chunks an epoch on the fast ones") {
    settings.basis = EpochBasis::slowest_link;
    const EpochNetwork network = dgx1(settings);
    CHECK(network.epoch == us(1));
    CHECK(seen(network, 0, 1) == Seen{2, 1, 2});
    CHECK(seen(network, 0, 2) == Seen{2, 1, 1});
  }
  SECTION("a multiplier") {
    settings.multiplier = 4;
    const EpochNetwork network = dgx1(settings);
    CHECK(network.epoch == us(2));
    CHECK(seen(network, 0, 1) == Seen{2, 1, 4});
    CHECK(seen(network, 0, 2) == Seen{2, 1, 2});
  }
  SECTION("given: 0.5 us is 1.25 of its epochs, 1 us is 2.5, the latency 1.75") {
    settings.duration = us(0.4);
    settings.multiplier = 17; // without meaning then
    const EpochNetwork network = dgx1(settings);
    CHECK(network.epoch == us(0.4));
    CHECK(seen(network, 0, 1) == Seen{4, 2, 1});
    CHECK(seen(network, 0, 2) == Seen{5, 3, 1});
  }
  SECTION("a latency of exactly the threshold counts as none") {
    settings.multiplier = 4;
    settings.alpha_threshold = 0.35;
    CHECK(seen(dgx1(settings), 0, 1) == Seen{1, 1, 4});
    settings.alpha_threshold = 0.34;
    CHECK(seen(dgx1(settings), 0, 1) == Seen{2, 1, 4});
  }
  SECTION("without latency") {
    settings.with_alpha = false;
    settings.most_alpha_epochs = 1; // nothing to guard
    const EpochNetwork network = dgx1(settings);
    CHECK(network.epoch == us(0.5));
    CHECK(seen(network, 0, 1) == Seen{1, 1, 1});
    CHECK(seen(network, 0, 2) == Seen{2, 2, 1});
  }
  SECTION("the guard: no more than one epoch of latency") {
    settings.most_alpha_epochs = 1;
    const EpochNetwork network = dgx1(settings);
    CHECK(network.epoch == us(0.7));
    CHECK(seen(network, 0, 1) == Seen{2, 1, 1});
    CHECK(seen(network, 0, 2) == Seen{3, 2, 1});
  }
  SECTION("the guard doesn't touch what is within it") {
    settings.most_alpha_epochs = 1.4;
    CHECK(dgx1(settings).epoch == us(0.5));
  }
}

TEST_CASE("epoch network: one link without latency ends the guard") {
  TopologyParts parts = samples::npus("pair", 2);
  parts.add_duplex(samples::link(0, 1)); // 0.5 us of latency, 25 KB take as long
  EpochSettings settings;
  settings.most_alpha_epochs = 0.5;
  CHECK(epoch_network(Topology(parts), Bytes{25'000}, settings).epoch == us(1));
  parts.links[1].latency = {};
  CHECK(epoch_network(Topology(parts), Bytes{25'000}, settings).epoch == us(0.5));
}

TEST_CASE("epoch network: parallel links are lanes of their own") {
  TopologyParts parts = samples::npus("pair", 2);
  parts.add_link(samples::link(1, 0));
  parts.add_link(samples::link(0, 1));
  parts.add_link(samples::link(0, 1));
  const EpochNetwork network = epoch_network(Topology(parts), Bytes{25'000}, {});
  REQUIRE(network.lanes.size() == 3);
  CHECK(network.lanes[0].links == std::vector{LinkId{1}});
  CHECK(network.lanes[1].links == std::vector{LinkId{2}});
  CHECK(network.lanes[2].links == std::vector{LinkId{0}});
  REQUIRE(network.limits.size() == 3); // by link, not by lane
  CHECK(network.limits[0].uses.front().lane == LaneId{2});
  CHECK(network.limits[1].uses.front().lane == LaneId{0});
}

TEST_CASE("epoch network: through the switch of DGX-2") {
  // 125 KB take 1 us, a hop's latency is 0.35 us: one epoch each.
  const Topology topology = make_topology("dgx2");
  EpochSettings settings;
  const auto network = [&] { return epoch_network(topology, Bytes{125'000}, settings); };
  SECTION("out of the switch only the latency") {
    const EpochNetwork free = network();
    CHECK(free.lanes.size() == 32);
    CHECK(seen(free, 0, 16) == Seen{2, 1, 1});
    CHECK(seen(free, 16, 0) == Seen{1, 1, 1});
    CHECK(free.distances_from({0})[15] == 3);
    CHECK_FALSE(free.stores[16]);
    CHECK(free.copies[16] == topology.node(NodeId{16}).can.copy);
  }
  SECTION("a latency below the threshold: at once") {
    settings.alpha_threshold = 0.35;
    CHECK(seen(network(), 16, 0) == Seen{0, 1, 1});
  }
  SECTION("an epoch for each hop") {
    settings.free_switch_exit = false;
    CHECK(seen(network(), 16, 0) == Seen{2, 1, 1});
    CHECK(network().distances_from({0})[15] == 4);
  }
  SECTION("hyper-edges") {
    settings.switches = SwitchModel::hyper_edges;
    const EpochNetwork lanes = network();
    CHECK(lanes.lanes.size() == 16 * 15);
    CHECK(lanes.out_lanes[16].empty());
    CHECK(lanes.in_lanes[16].empty());
    CHECK(lanes.limits.size() == 32);
    const Lane& lane = lanes.lanes[samples::lane_between(lanes, 3, 9)];
    CHECK(lane.delay == 3); // one chunk's time and two latencies
    REQUIRE(lane.links.size() == 2);
    const auto offset = [&](LinkId link) {
      for (const LaneUse& use : lanes.limits[link.value].uses)
        if (&lanes.lanes[use.lane.value] == &lane) return use.offset;
      return UINT32_MAX;
    };
    CHECK(offset(lane.links[0]) == 0);
    CHECK(offset(lane.links[1]) == 1); // the head is there after the first latency
    CHECK(lanes.limits[0].uses.size() == 15);
    CHECK(lanes.reach() == 3);
    CHECK(lanes.distances_from({0})[15] == 3);
  }
}

TEST_CASE("epoch network: what switches may do") {
  for (const bool able : {false, true}) {
    const Topology topology = samples::hub(3, able);
    EpochSettings settings;
    CHECK(epoch_network(topology, Bytes{25'000}, settings).copies[3] == able);
    settings.switches = SwitchModel::no_copy;
    const EpochNetwork network = epoch_network(topology, Bytes{25'000}, settings);
    CHECK_FALSE(network.copies[3]);
    CHECK(network.copies[0]);
  }
}

TEST_CASE("epoch network: hyper-edges as slow as their slowest link") {
  TopologyParts parts = samples::npus("line", 2); // 0 - switch - switch - 1
  const NodeId a = parts.add_node({"a", NodeKind::switching, {false, false, false}, {}});
  const NodeId b = parts.add_node({"b", NodeKind::switching, {false, false, false}, {}});
  parts.add_link(samples::link(0, a.value));
  parts.add_link(samples::link(a.value, b.value));
  parts.add_link(samples::link(b.value, 1));
  parts.links[1].bandwidth = {25'000'000'000};
  parts.links[2].latency = {1'100'000}; // 3 epochs of 0.5 us
  // Both outer links share what one of them has.
  parts.groups.push_back({"both", {LinkId{0}, LinkId{2}}, samples::bandwidth});
  EpochSettings settings;
  settings.switches = SwitchModel::hyper_edges;
  const EpochNetwork network = epoch_network(Topology(parts), Bytes{25'000}, settings);
  REQUIRE(network.lanes.size() == 1);
  CHECK(network.lanes[0].delay == 1 + 1 + (1 + 1 + 3));
  REQUIRE(network.limits.size() == 4);
  CHECK(network.limits[1].window == 2);
  CHECK(network.limits[2].uses.front().offset == 2);
  REQUIRE(network.limits[3].uses.size() == 2); // used twice
  CHECK(network.limits[3].uses[0].offset == 0);
  CHECK(network.limits[3].uses[1].offset == 2);
  CHECK(network.limits_of[0] == std::vector{LimitId{0}, LimitId{1}, LimitId{2}, LimitId{3}});
}

TEST_CASE("epoch network: shared groups") {
  TopologyParts parts = samples::npus("bus", 3);
  parts.add_link(samples::link(0, 1));
  parts.add_link(samples::link(0, 2));
  parts.add_link(samples::link(1, 2)); // alone: the fastest, 0.5 us
  parts.groups.push_back({"bus", {LinkId{0}, LinkId{1}}, Bandwidth{20'000'000'000}}); // 1.25 us
  const EpochNetwork network = epoch_network(Topology(parts), Bytes{25'000}, {});
  CHECK(network.epoch == us(0.5));
  CHECK(network.lanes[0].delay == 1 + 1 + 2); // at the bus's pace
  REQUIRE(network.limits.size() == 4);
  CHECK(network.limits[0].window == 1); // the link could do more
  const EpochLimit& bus = network.limits[3];
  CHECK(bus.name == "bus");
  CHECK(bus.window == 3);
  CHECK(bus.most == 1);
  REQUIRE(bus.uses.size() == 2);
  CHECK(bus.uses[1].lane == LaneId{1});
  CHECK(network.limits_of[1] == std::vector{LimitId{1}, LimitId{3}});
  CHECK(network.limits_of[2] == std::vector{LimitId{2}});
}

TEST_CASE("epoch network: a memory that can't copy is left out") {
  TopologyParts parts = samples::npus("memory", 2);
  const NodeId memory = parts.add_node({"dram", NodeKind::memory, {true, false, false}, {}});
  parts.add_duplex(samples::link(0, 1));
  parts.add_duplex(samples::link(0, memory.value));
  CHECK(epoch_network(Topology(parts), Bytes{25'000}, {}).lanes.size() == 2);
  parts.nodes[memory.value].can.copy = true;
  CHECK(epoch_network(Topology(parts), Bytes{25'000}, {}).lanes.size() == 4);
}

TEST_CASE("epoch network: bad input") {
  const auto refused = [](const EpochSettings& settings) {
    return message_of([&] { (void)dgx1(settings); });
  };
  EpochSettings settings;
  settings.duration = Time{0};
  CHECK(refused(settings) == "an epoch of 0ps: it must be longer than 0");
  settings = {};
  settings.multiplier = 0;
  CHECK(refused(settings) == "the epoch multiplier is 0: it must be above 0");
  settings.multiplier = 1e-9;
  CHECK(refused(settings) == "1e-09 times the 500ns of a chunk is no possible length of an epoch");
  settings = {};
  settings.alpha_threshold = -1;
  CHECK(refused(settings) == "the latency threshold is -1: it must be 0 epochs or more");
  settings = {};
  settings.most_alpha_epochs = 0;
  CHECK(refused(settings) == "the most epochs of the least latency is 0: it must be above 0");

  TopologyParts parts = samples::npus("far", 2);
  parts.add_duplex(samples::link(0, 1));
  parts.links[0].latency = Time{600'000'000'000}; // 0.6 s of 0.5 us
  CHECK(message_of([&] { (void)epoch_network(Topology(parts), Bytes{25'000}, {}); }) ==
        "the latency over npu0>npu1 (600ms) takes 1200000 epochs of 500ns, more than 1000000: an "
        "epoch of 600ns or more would do");
  settings = {};
  settings.duration = Time{600'000};
  CHECK(epoch_network(Topology(parts), Bytes{25'000}, settings).lanes[0].delay == 1'000'001);
  parts.links.clear();
  CHECK(message_of([&] { (void)epoch_network(Topology(parts), Bytes{25'000}, {}); }) ==
        "far has no link: nothing to send over");
}

} // namespace network_test
