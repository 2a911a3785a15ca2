// What a replay depended on: followed by hand on a line, and on random cases an unbroken chain from
// time 0, or from a late start, to the last delivery.

#include "sim/critical_chain.hpp"

#include "sim/engines/engine.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/sim/random_case.hpp"

#include <algorithm>
#include <cstdint>

namespace critical_chain_test {

using namespace tutti;

namespace {

constexpr std::int64_t sent = 20'000'000, latency = 500'000; // of 1 MB on a sample's link, ps

struct Replayed {
  Report report;
  CriticalChain chain;
};

Replayed replayed(const Topology& topology, const Collective& collective, const Schedule& schedule,
                  const TimeModel& model, const std::vector<Time>& starts = {}) {
  RunOptions options{.record_deliveries = true, .record_hops = true};
  options.starts = starts;
  Report report = run_native(topology, collective, schedule, model, options);
  CriticalChain chain = critical_chain(topology, collective, schedule, starts, report);
  return {std::move(report), std::move(chain)};
}

} // namespace

TEST_CASE("a Broadcast along a line depends on all its links, or on who joins late") {
  const Topology line = samples::ring(3, true);
  const Collective collective =
      make_collective(line, {CollectiveKind::broadcast, Bytes{1'000'000}, {}, 0, 1});
  Schedule schedule(line.link_count());
  schedule.push(ChunkId{0}, LinkId{0}, Op::copy);
  schedule.push(ChunkId{0}, LinkId{1}, Op::copy);
  const CriticalChain all = replayed(line, collective, schedule, {}).chain;
  CHECK_FALSE(all.late);
  REQUIRE(all.hops.size() == 2);
  CHECK(all.hops[0].link == LinkId{0});
  CHECK(all.hops[1].link == LinkId{1});
  CHECK(all.longest == Time{sent + latency});

  const std::vector<Time> relay{Time{}, Time{100'000'000}, Time{}};
  const CriticalChain late = replayed(line, collective, schedule, {}, relay).chain;
  CHECK(late.late == NodeId{1});
  CHECK(late.hops.size() == 1);
  const std::vector<Time> last{Time{}, Time{}, Time{100'000'000}};
  const CriticalChain waits = replayed(line, collective, schedule, {}, last).chain;
  CHECK(waits.late == NodeId{2});
  CHECK(waits.hops.empty());
  const std::vector<Time> early{Time{}, Time{1'000'000}, Time{}}; // before the data is there
  CHECK_FALSE(replayed(line, collective, schedule, {}, early).chain.late);
}

TEST_CASE("what adds up slowly depends on when it could begin") {
  // A Reduce of 1 MB from two neighbours of NPU 1, which takes 1 ms for each.
  const Topology ring = samples::ring(3);
  const auto between = [&](std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t l = 0; l < ring.link_count(); ++l)
      if (ring.link(LinkId{l}).from == NodeId{from} && ring.link(LinkId{l}).to == NodeId{to})
        return LinkId{l};
    return LinkId{};
  };
  const Collective collective =
      make_collective(ring, {CollectiveKind::reduce, Bytes{1'000'000}, {}, 1, 1});
  Schedule schedule(ring.link_count());
  schedule.push(ChunkId{0}, between(0, 1), Op::reduce);
  schedule.push(ChunkId{0}, between(2, 1), Op::reduce);
  TimeModel model;
  model.reduce_rate = Bandwidth{1'000'000'000};
  const Time late{100'000'000};
  const CriticalChain receiver =
      replayed(ring, collective, schedule, model, {Time{}, late, Time{}}).chain;
  CHECK(receiver.late == NodeId{1});
  CHECK(receiver.hops.empty());
  // What comes late waits for the sum that NPU 1 is at, and that hasn't waited for anybody.
  const Replayed busy = replayed(ring, collective, schedule, model, {Time{}, Time{}, late});
  CHECK(busy.report.completion == Time{sent + latency + 2'000'000'000});
  CHECK_FALSE(busy.chain.late);
  REQUIRE(busy.chain.hops.size() == 1);
  CHECK(busy.chain.hops[0].link == between(0, 1));
}

TEST_CASE("a chain has no gap from its cause to the last delivery") {
  std::size_t late = 0, from_zero = 0, long_ones = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    testing::RandomCase c =
        seed % 4 == 0 ? testing::random_case_of_sends(seed) : testing::random_case(seed, false);
    Random random(seed);
    testing::add_dependencies(random, c);
    if (c.schedule.empty()) continue;
    std::vector<Time> starts;
    for (const Node& node : c.topology.nodes())
      starts.push_back(Time{node.can.store && random.below(3) == 0
                                ? 500 * static_cast<std::int64_t>(random.below(20'000))
                                : std::int64_t{0}});
    INFO("seed " << seed);
    const auto [report, chain] = replayed(c.topology, c.collective, c.schedule, c.model, starts);
    const Time cause = chain.late ? starts[chain.late->value] : Time{};
    (chain.late ? late : from_zero) += 1;
    long_ones += chain.hops.size() > 3 ? 1 : 0;
    if (chain.hops.empty()) {
      CHECK(report.completion == cause);
      continue;
    }
    CHECK(chain.hops.front().start == cause);
    CHECK(std::ranges::is_sorted(chain.hops, {}, &HopRecord::start));
    CHECK(chain.hops.back().end + c.topology.link(chain.hops.back().link).latency <=
          report.completion);
    CHECK(chain.longest_on.valid());
  }
  CHECK(late > 200);
  CHECK(from_zero > 200);
  CHECK(long_ones > 200);
}

} // namespace critical_chain_test
