// What holds a collective up is named, be it a link or what links share; idle links are told; and
// routes by a hash show how their times spread.
#include "experiments/driver/studies/runs/busy_links.hpp"

#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "sim/engines/engine.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"

#include <set>
#include <string>

namespace busy_links_test {

using namespace tutti;

namespace {

Evaluation evaluated(const Topology& topology, const char* algorithm, Routing routing,
                     std::uint32_t chunks) {
  Case c;
  c.topology = &topology;
  c.topology_label = topology.name();
  c.collective = {{"all_to_all"}, {8'000'000}};
  c.algorithm = find_algorithm(algorithm);
  c.chunks = chunks;
  c.options.routing = routing;
  c.engine = &find_engine("native");
  return evaluate(c);
}

/// Two NPUs with two cables of 10 GB/s, out of slots of 12 GB/s.
Topology two_cables() {
  TopologyParts parts = samples::npus("two cables", 2);
  for (int cable = 0; cable < 2; ++cable)
    parts.add_duplex({NodeId{0}, NodeId{1}, Time{1'000}, Bandwidth{10'000'000'000}, -1});
  for (std::uint32_t n = 0; n < 2; ++n)
    parts.groups.push_back(
        {"slot " + std::to_string(n), {LinkId{n}, LinkId{2 + n}}, Bandwidth{12'000'000'000}});
  return Topology(std::move(parts));
}

/// Four NPUs at either of two leaves, which two spines join.
Topology leaves_and_spines() {
  TopologyParts parts = samples::npus("leaves and spines", 8);
  for (const char* name : {"leaf0", "leaf1", "spine0", "spine1"})
    parts.add_node({name, NodeKind::switching, {false, false, false}, {}});
  for (std::uint32_t n = 0; n < 8; ++n) parts.add_duplex(samples::link(n, 8 + n / 4));
  for (const std::uint32_t leaf : {8U, 9U})
    for (std::uint32_t spine = 10; spine < 12; ++spine)
      parts.add_duplex(samples::link(leaf, spine));
  return Topology(std::move(parts));
}

} // namespace

TEST_CASE("a shared group is the bottleneck where it is fuller than any link") {
  const Topology topology = two_cables();
  const Evaluation both = evaluated(topology, "direct", Routing::automatic, 2);
  CHECK(both.hottest_link == "npu0>npu1 +3");
  CHECK(both.bottleneck == "slot 0 (2 links)");
  CHECK(both.note.empty());
  // One chunk each way is on one cable, which has less than the slot.
  const Evaluation one = evaluated(topology, "direct", Routing::automatic, 1);
  CHECK(one.bottleneck == one.hottest_link);
  CHECK(one.note == "idle parallel links: 1 of 2 npu0>npu1, 1 of 2 npu1>npu0");
}

TEST_CASE("routes by a hash are told with the times of other seeds, shared ones without") {
  const Topology topology = leaves_and_spines();
  const Evaluation shared = evaluated(topology, "direct", Routing::automatic, 1);
  CHECK_FALSE(shared.attempts);
  CHECK(shared.routing == "shortest");
  std::set<Time> times;
  for (const std::uint64_t seed : {0U, 1U, 2U, 15U}) {
    const Evaluation hashed = evaluated(topology, "direct", {Routing::ecmp_hash, seed}, 1);
    REQUIRE(hashed.attempts);
    CHECK(hashed.attempts->count == 16);
    const Time own = hashed.replays.front().report.completion;
    CHECK(hashed.attempts->best <= own);
    CHECK(hashed.attempts->worst >= own);
    // Balance is what a hash can reach, not what it beats by more than who comes first.
    CHECK(hashed.attempts->worst >= shared.replays.front().report.completion);
    times.insert(own);
  }
  CHECK(times.size() > 1);
  CHECK_FALSE(evaluated(topology, "tacos", {Routing::ecmp_hash, 1}, 1).attempts);
}

} // namespace busy_links_test
