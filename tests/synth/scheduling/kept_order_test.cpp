// Dependencies that keep the order of a list: as many as it takes, none in vain, and each of what
// its sender knows.

#include "synth/scheduling/kept_order.hpp"

#include "sim/engines/engine.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/sim/random_case.hpp"

#include <set>
#include <utility>
#include <vector>

using namespace tutti;

namespace {

LinkId first_link(const Schedule& schedule, std::size_t i) {
  return schedule.paths().first(schedule.path_of(i));
}

/// Every transfer waits for the one before it on its first link, where several paths begin there.
Schedule chained(const Topology& topology, const Schedule& schedule) {
  std::vector<std::set<PathId>> paths(topology.link_count()); // by first link
  for (std::size_t i = 0; i < schedule.size(); ++i)
    paths[first_link(schedule, i).value].insert(schedule.path_of(i));
  Schedule made = schedule;
  std::vector<std::uint32_t> last(topology.link_count(), UINT32_MAX);
  for (std::uint32_t i = 0; i < schedule.size(); ++i) {
    const LinkId link = first_link(schedule, i);
    if (paths[link.value].size() < 2 || !topology.node(topology.link(link).from).can.store)
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

/// npu3 sends npu0 a chunk that goes on to npu1; then npu0 sends one of its own to npu2, three
/// times as large, that is there at once and would overtake.
Sends passing_on_first() {
  Topology star = samples::star(4);
  Collective collective;
  collective.sets = {{NodeId{3}}, {NodeId{1}}, {NodeId{0}}, {NodeId{2}}};
  collective.chunks = {{Bytes{1'000'000}, 0, 1, false}, {Bytes{3'000'000}, 2, 3, false}};
  CollectivePart part;
  part.chunk_count = 2;
  collective.parts = {part};
  Schedule schedule(star.link_count());
  const auto path = [&](std::uint32_t from, std::uint32_t to) {
    return schedule.paths().intern(std::vector{LinkId{2 * from}, LinkId{2 * to + 1}});
  };
  schedule.push({ChunkId{0}, path(3, 0), Op::copy, false});
  schedule.push({ChunkId{0}, path(0, 1), Op::copy, false});
  schedule.push({ChunkId{1}, path(0, 2), Op::copy, false});
  return {std::move(star), std::move(collective), std::move(schedule)};
}

} // namespace

TEST_CASE("what is ready early waits for what is listed before it") {
  Sends sends = passing_on_first();
  const Time plain = run_native(sends.star, sends.collective, sends.schedule, {}).completion;
  const KeptOrder kept = with_kept_plan(sends.star, sends.collective, sends.schedule, {});
  // In queues the large chunk goes first: 60 us, then the one to pass on. In order both take
  // longer.
  CHECK(kept.completion == plain);
  CHECK_FALSE(kept.schedule.has_dependencies());

  // Where much more depends on the chunk that is passed on, order pays.
  Collective& collective = sends.collective;
  collective.sets.push_back({NodeId{3}});
  for (int more = 0; more < 3; ++more) {
    const ChunkId chunk{static_cast<std::uint32_t>(collective.chunks.size())};
    collective.chunks.push_back({Bytes{1'000'000}, 0, 1, false});
    ++collective.parts.front().chunk_count;
    const Schedule& schedule = sends.schedule;
    sends.schedule.push({chunk, schedule[0].path, Op::copy, false});
    sends.schedule.push({chunk, schedule[1].path, Op::copy, false});
  }
  const KeptOrder better = with_kept_plan(sends.star, collective, sends.schedule, {});
  CHECK(verify(sends.star, collective, better.schedule).correct());
  CHECK(better.completion <= run_native(sends.star, collective, sends.schedule, {}).completion);
}

TEST_CASE("fewer dependencies are replayed like all of them") {
  std::size_t kept_some = 0, fewer = 0, as_plain = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const testing::RandomCase c = testing::random_case(seed, false);
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
}
