// The best of all schedules of tiny collectives, found by trying every one, doesn't beat a bound.
#include "sim/random.hpp"
#include "synth/bounds/bounds.hpp"
#include "tests/catch.hpp"
#include "tests/sim/all_schedules.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tutti::optimum_test {
namespace {

using testing::AllSchedules;

std::int64_t highest(const Topology& topology, const Collective& collective,
                     const TimeModel& model) {
  return lower_bound(topology, collective, model, Chunking::given).time.ps;
}

/// Three NPUs with random links, or around a switch with random abilities; sometimes a group.
Topology small_topology(Random& random) {
  TopologyParts parts;
  for (int n = 0; n < 3; ++n) parts.add_node({"npu" + std::to_string(n), NodeKind::npu, {}, {}});
  const auto link = [&](std::uint32_t from, std::uint32_t to) {
    parts.add_link({NodeId{from}, NodeId{to}, Time{500 * static_cast<int>(random.below(4))},
                    Bandwidth{1'000'000'000 * (1 + static_cast<std::int64_t>(random.below(3)))},
                    -1});
  };
  if (random.below(2) == 0) {
    parts.add_node(
        {"switch", NodeKind::switching, {false, random.below(2) == 0, random.below(2) == 0}, {}});
    for (std::uint32_t n = 0; n < 3; ++n) {
      link(n, 3);
      link(3, n);
    }
  } else {
    for (std::uint32_t n = 0; n < 3; ++n) {
      link(n, (n + 1) % 3);
      if (random.below(3) > 0) link((n + 1) % 3, n);
    }
  }
  if (random.below(3) == 0) {
    SharedGroup group{"group", {}, Bandwidth{2'000'000'000}};
    for (std::uint32_t l = 0; l < parts.links.size(); ++l)
      if (random.below(2) == 0) group.links.emplace_back(l);
    if (!group.links.empty()) parts.groups.push_back(group);
  }
  return Topology(std::move(parts));
}

TEST_CASE("the best of all schedules doesn't beat a bound", "[bounds]") {
  const std::vector<std::pair<CollectiveKind, std::size_t>> cases{
      {CollectiveKind::broadcast, 3}, {CollectiveKind::reduce, 3}, {CollectiveKind::all_gather, 6}};
  Random random(7);
  int found = 0, reached = 0;
  for (int round = 0; round < 24; ++round)
    for (const auto& [kind, transfers] : cases) {
      const Topology topology = small_topology(random);
      const bool direct = topology.node_count() == 3;
      if (kind == CollectiveKind::all_gather && !direct) continue; // too many
      const Collective collective =
          make_collective(topology, {kind,
                                     Bytes{kind == CollectiveKind::all_gather ? 6000 : 2000},
                                     {},
                                     static_cast<std::uint32_t>(random.below(3)),
                                     1});
      TimeModel model;
      if (random.below(2) == 0) model.link_busy = LinkBusy::latency_and_serialization;
      if (random.below(3) == 0) model.forwarding = Forwarding::cut_through;
      const auto [time, tried] = AllSchedules(topology, collective, model).best(transfers);
      if (tried == 0) continue;
      CAPTURE(round, to_text(kind), tried);
      const std::int64_t bound = highest(topology, collective, model);
      CHECK(bound <= time);
      ++found;
      reached += bound == time;
    }
  CHECK(found > 50);
  CHECK(reached > found / 2);
}

TEST_CASE("the best All-Reduce of a chunk over three NPUs doesn't beat a bound", "[bounds]") {
  Random random(11);
  int reached = 0;
  for (int round = 0; round < 16; ++round) {
    const Topology topology = small_topology(random);
    Collective collective;
    collective.sets = {{NodeId{0}, NodeId{1}, NodeId{2}}};
    collective.chunks = {{Bytes{2000}, 0, 0, true}};
    const auto [time, tried] = AllSchedules(topology, collective, TimeModel{}).best(5);
    CAPTURE(round, tried);
    REQUIRE(tried > 0);
    const std::int64_t bound = highest(topology, collective, TimeModel{});
    CHECK(bound <= time);
    reached += bound == time;
  }
  CHECK(reached > 0);
}

/// npu0 and npu1 with fast links, npu2 and npu3 outside; one or two paths across, in chains or not.
Topology pair_behind_cut(Random& random) {
  TopologyParts parts;
  for (int n = 0; n < 4; ++n) parts.add_node({"npu" + std::to_string(n), NodeKind::npu, {}, {}});
  const auto join = [&](std::uint32_t from, std::uint32_t to, std::int64_t rate) {
    parts.add_duplex({NodeId{from}, NodeId{to}, Time{500 * static_cast<int>(random.below(3))},
                      Bandwidth{1'000'000'000 * rate}, -1});
  };
  join(0, 1, 1 + static_cast<std::int64_t>(random.below(4)));
  join(0, 2, 1);
  if (random.below(3) > 0)
    join(1, 3, 1 + static_cast<std::int64_t>(random.below(2)));
  else
    join(2, 3, 2);
  return Topology(std::move(parts));
}

TEST_CASE("the best way to spread behind a cut, or to gather before it, doesn't beat a bound",
          "[bounds]") {
  Random random(13);
  int spreading = 0, reached = 0;
  for (int round = 0; round < 60; ++round) {
    const Topology topology = pair_behind_cut(random);
    Collective collective;
    collective.sets = {{NodeId{0}, NodeId{1}}, {NodeId{2}}, {NodeId{3}}};
    const Bytes other{random.below(3) == 0 ? 3000 : 2000};
    if (random.below(2) == 0)
      collective.chunks = {{Bytes{2000}, 1, 0, false}, {other, 2, 0, false}};
    else
      collective.chunks = {{Bytes{2000}, 0, 1, true}, {other, 0, 2, true}};
    TimeModel model;
    if (random.below(2) == 0) model.link_busy = LinkBusy::latency_and_serialization;
    if (random.below(3) == 0) model.forwarding = Forwarding::cut_through;
    const auto [time, tried] = AllSchedules(topology, collective, model).best(5);
    CAPTURE(round, tried);
    REQUIRE(tried > 0);
    const Bound bound = lower_bound(topology, collective, model, Chunking::given);
    CHECK(bound.time.ps <= time);
    spreading += bound.kind == BoundKind::spreading_cut;
    reached += bound.kind == BoundKind::spreading_cut && bound.time.ps == time;
  }
  CHECK(spreading > 10);
  CHECK(reached > 2);
}

} // namespace
} // namespace tutti::optimum_test
