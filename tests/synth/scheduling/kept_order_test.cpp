// Dependencies that keep the order of a list: as many as it takes, none in vain, and each of what
// its sender knows.

#include "synth/scheduling/kept_order.hpp"

#include "sim/engines/engine.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/sim/random_case.hpp"

#include <cstdint>
#include <initializer_list>
#include <set>
#include <utility>
#include <vector>

namespace kept_order_test {

using namespace tutti;

namespace {

LinkId first_link(const Schedule& schedule, std::size_t i) {
  return schedule.paths().first(schedule.path_of(i));
}

/// Every send waits for the one before it on its first link, where several paths begin there.
Schedule chained(const Topology& topology, const Schedule& schedule) {
  std::vector<std::set<PathId>> paths(topology.link_count()); // by first link
  for (std::size_t i = 0; i < schedule.size(); ++i)
    paths[first_link(schedule, i).value].insert(schedule.path_of(i));
  Schedule made = schedule;
  std::vector<std::uint32_t> last(topology.link_count(), UINT32_MAX);
  for (std::uint32_t i = 0; i < schedule.size(); ++i) {
    const LinkId link = first_link(schedule, i);
    if (paths[link.value].size() < 2 || !topology.node(topology.link(link).from).can.store ||
        schedule[i].contiguous)
      continue;
    const std::uint32_t before = std::exchange(last[link.value], i);
    if (before != UINT32_MAX) made.add_dependency(i, {before, Milestone::left});
  }
  return made;
}

bool is_together(const Schedule& schedule) {
  for (std::size_t i = 0; i < schedule.size(); ++i)
    if (schedule[i].together) return true;
  return false;
}

struct Sends {
  Topology star;
  Collective collective;
  Schedule schedule;
};

/// A chunk goes from npu3 over npu0, npu1 and npu2 to npu4; npu0 also has one of its own for npu3,
/// three times as large, which is listed after it has passed the first one on.
Sends passing_on_first() {
  Topology star = samples::star(5);
  Collective collective;
  collective.sets = {{NodeId{3}}, {NodeId{4}}, {NodeId{0}}, {NodeId{3}}};
  collective.chunks = {{Bytes{1'000'000}, 0, 1, false}, {Bytes{3'000'000}, 2, 3, false}};
  CollectivePart part;
  part.chunk_count = 2;
  collective.parts = {part};
  Schedule schedule(star.link_count());
  const auto push = [&](std::uint32_t chunk, std::uint32_t from, std::uint32_t to) {
    const std::vector<LinkId> links{LinkId{2 * from}, LinkId{2 * to + 1}};
    schedule.push({ChunkId{chunk}, schedule.paths().intern(links), Op::copy, false});
  };
  push(0, 3, 0);
  push(0, 0, 1);
  push(1, 0, 3);
  push(0, 1, 2);
  push(0, 2, 4);
  return {std::move(star), std::move(collective), std::move(schedule)};
}

} // namespace

TEST_CASE("what is ready early waits for what is listed before it, where that is faster") {
  // 1 MB takes 20 us, and 1 us over the hub. In queues the large chunk leaves npu0 first, from 0 to
  // 60 us, and then the other one takes three times 21 us. In list order that one leaves at 21 us,
  // the large one at 41 us, and arrives 61 us later.
  const Sends sends = passing_on_first();
  const Time plain = run_native(sends.star, sends.collective, sends.schedule, {}).completion;
  CHECK(plain == Time{123'000'000});
  const KeptOrder kept = with_kept_plan(sends.star, sends.collective, sends.schedule, {});
  CHECK(kept.completion == Time{102'000'000});
  CHECK(kept.is_kept);
  REQUIRE(kept.schedule.waiting().size() == 1);
  CHECK(kept.schedule.waiting()[0] == 2);
  CHECK(kept.schedule.all_dependencies()[0] == Dependency{1, Milestone::left});
}

TEST_CASE("clocks hold back what would set out earlier than the tolerance allows") {
  const auto us = [](std::initializer_list<std::int64_t> times) {
    std::vector<Time> made;
    for (const std::int64_t time : times) made.push_back(Time{time * 1'000'000});
    return made;
  };
  const Sends sends = passing_on_first();
  const PlannedTimes plan{us({0, 21, 41, 42, 63}), us({20, 41, 101, 62, 83}),
                          us({21, 42, 102, 63, 84})};
  const auto kept_within = [&](Time tolerance) {
    return with_kept_plan(sends.star, sends.collective, sends.schedule, {}, &plan, tolerance);
  };
  const KeptOrder held = kept_within({}), loose = kept_within(Time{100'000'000});
  CHECK(held.completion == Time{102'000'000});
  CHECK(held.schedule.waiting().size() > 1); // npu1 and npu2 are idle until the chunk is there
  CHECK(loose.completion == Time{102'000'000});
  CHECK(loose.schedule ==
        with_kept_plan(sends.star, sends.collective, sends.schedule, {}).schedule);
}

TEST_CASE("fewer dependencies are replayed like all of them") {
  std::size_t kept_some = 0, fewer = 0, as_plain = 0, queued = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const testing::RandomCase c =
        seed % 3 == 0 ? testing::random_case_of_sends(seed) : testing::random_case(seed, false);
    if (is_together(c.schedule)) continue;
    INFO("seed " << seed);
    const Schedule all = chained(c.topology, c.schedule);
    const RunOptions recorded{.record_deliveries = true};
    const Report in_chains = run_native(c.topology, c.collective, all, c.model, recorded);
    const Time plain = run_native(c.topology, c.collective, c.schedule, c.model).completion;
    const KeptOrder kept = with_kept_plan(c.topology, c.collective, c.schedule, c.model);
    REQUIRE(verify(c.topology, c.collective, kept.schedule).correct());
    const Report replayed = run_native(c.topology, c.collective, kept.schedule, c.model, recorded);
    CHECK(replayed.completion == kept.completion);
    CHECK(kept.completion <= plain);
    CHECK(kept.is_kept == (in_chains.completion <= plain));
    queued += kept.is_kept ? 0 : 1;
    if (!kept.schedule.has_dependencies()) {
      CHECK(kept.completion == plain);
      ++as_plain;
      continue;
    }
    ++kept_some;
    CHECK(kept.completion < plain);
    CHECK(replayed.deliveries == in_chains.deliveries);
    fewer += kept.schedule.waiting().size() < all.waiting().size() ? 1 : 0;
    for (std::size_t k = 0; k < kept.schedule.waiting().size(); ++k) {
      const Dependency named = kept.schedule.all_dependencies()[k];
      CHECK(named.milestone == Milestone::left);
      CHECK(first_link(kept.schedule, kept.schedule.waiting()[k]) ==
            first_link(kept.schedule, named.transfer));
    }
  }
  CHECK(kept_some > 50);
  CHECK(fewer > 50);
  CHECK(as_plain > 500);
  CHECK(queued > 10);
}

} // namespace kept_order_test
