// What verify must object to. A checker that has never failed proves nothing.

#include "algorithms/list.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/sim/random_case.hpp"

#include <optional>
#include <vector>

namespace verify_test {

using namespace tutti;
using samples::link;

namespace {

Collective make(const Topology& topology, CollectiveKind kind, std::uint32_t chunks_per_shard = 1) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.chunks_per_shard = chunks_per_shard;
  return make_collective(topology, spec);
}

/// The schedule with its transfers in another order or number.
Schedule rebuilt(const Schedule& schedule, const std::vector<Transfer>& transfers) {
  Schedule made(schedule.paths().link_count());
  made.paths() = schedule.paths();
  for (const Transfer& transfer : transfers) made.push(transfer);
  return made;
}

std::vector<Transfer> transfers_of(const Schedule& schedule) {
  std::vector<Transfer> list;
  for (std::size_t i = 0; i < schedule.size(); ++i) list.push_back(schedule[i]);
  return list;
}

/// Transfer i starts where it did and goes on over a link that begins elsewhere.
Schedule misrouted(const Topology& topology, const Schedule& schedule, std::size_t i) {
  std::vector<Transfer> list = transfers_of(schedule);
  Schedule made = rebuilt(schedule, {});
  const LinkId first = schedule.paths().first(list[i].path);
  LinkId elsewhere{0};
  while (topology.link(elsewhere).from == topology.link(first).to) ++elsewhere.value;
  list[i].path = made.paths().intern(std::vector{first, elsewhere});
  for (const Transfer& transfer : list) made.push(transfer);
  return made;
}

std::string fault_text(const Topology& topology, const Collective& collective,
                       const Schedule& schedule) {
  const Verdict verdict = verify(topology, collective, schedule);
  return verdict.fault ? verdict.fault->text : "";
}

} // namespace

TEST_CASE("spoilt schedules are objected to") {
  const Topology topology = samples::ring(5);
  for (const char* name : {"ring1", "direct", "ring"})
    for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                      CollectiveKind::all_reduce, CollectiveKind::all_to_all}) {
      INFO(name << " " << to_text(kind));
      const Collective collective = make(topology, kind, samples::baseline(name).chunk_multiple);
      const Schedule good = samples::schedule_of(name, topology, collective);
      REQUIRE(verify(topology, collective, good).correct());
      REQUIRE(verify(topology, collective, good).redundant == 0);
      const std::vector<Transfer> list = transfers_of(good);
      for (std::size_t i = 0; i < list.size(); ++i) {
        std::vector<Transfer> spoilt = list;
        spoilt.erase(spoilt.begin() + static_cast<std::ptrdiff_t>(i));
        CHECK_FALSE(verify(topology, collective, rebuilt(good, spoilt)).correct()); // dropped

        spoilt = list;
        spoilt.insert(spoilt.begin() + static_cast<std::ptrdiff_t>(i), list[i]);
        const Verdict doubled = verify(topology, collective, rebuilt(good, spoilt));
        if (list[i].op == Op::reduce)
          CHECK_FALSE(doubled.correct()); // counted twice
        else
          CHECK((doubled.correct() && doubled.redundant == 1)); // allowed, but counted

        CHECK_FALSE(verify(topology, collective, misrouted(topology, good, i)).correct());
      }
    }
}

TEST_CASE("swapping two dependent transfers is a fault") {
  const Topology topology = samples::ring(4, true);
  const Collective collective = make(topology, CollectiveKind::all_gather);
  const Schedule good = samples::schedule_of("ring1", topology, collective);
  std::vector<Transfer> list = transfers_of(good);
  // Transfer 4 passes on what transfer 0 brought (same chunk, next link).
  REQUIRE(list[0].chunk == list[4].chunk);
  std::swap(list[0], list[4]);
  CHECK(fault_text(topology, collective, rebuilt(good, list)) ==
        "transfer 0: node npu1 doesn't hold chunk 0");
}

TEST_CASE("every fault has its words") {
  const Topology topology = samples::ring(3, true); // links 0>1, 1>2, 2>0
  const Collective sum = make(topology, CollectiveKind::reduce);
  const Collective copy = make(topology, CollectiveKind::broadcast);
  const auto schedule = [&](const std::vector<Transfer>& list) {
    return rebuilt(Schedule(topology.link_count()), list);
  };
  const auto over = [](std::uint32_t l, Op op) {
    return Transfer{ChunkId{0}, PathId{l}, op, false};
  };

  CHECK(fault_text(topology, copy, schedule({over(1, Op::copy)})) ==
        "transfer 0: node npu1 doesn't hold chunk 0");
  CHECK(fault_text(topology, copy, schedule({over(0, Op::copy)})) == "chunk 0 never reaches npu2");
  CHECK(fault_text(topology, copy, schedule({over(0, Op::copy), over(0, Op::reduce)})) ==
        "transfer 1: contribution of its data to chunk 0 is counted twice at npu1");
  CHECK(fault_text(topology, sum, schedule({over(1, Op::reduce)})) ==
        "chunk 0 is not complete at npu0: the contribution of npu1 is missing");
  CHECK(fault_text(topology, sum, schedule({over(1, Op::copy)})) ==
        "transfer 0: the copy of chunk 0 loses the contribution of npu2 at npu2");
  CHECK(fault_text(topology, sum, schedule({over(1, Op::reduce), over(1, Op::reduce)})) ==
        "transfer 1: contribution of npu1 to chunk 0 is counted twice at npu2");
  CHECK(fault_text(topology, copy, schedule({{ChunkId{7}, PathId{0}, Op::copy, false}})) ==
        "transfer 0: there is no chunk 7 (the collective has 1)");
  CHECK(fault_text(topology, copy, Schedule(2)) ==
        "the schedule speaks of 2 links, the topology has 3");

  Schedule broken(topology.link_count());
  const std::vector<LinkId> gap{LinkId{0}, LinkId{2}};
  broken.push({ChunkId{0}, broken.paths().intern(gap), Op::copy, false});
  CHECK(fault_text(topology, copy, broken) == "transfer 0: the path breaks after its hop 0");
}

TEST_CASE("abilities are checked") {
  TopologyParts parts = samples::npus("abilities", 3);
  parts.add_node({"relay", NodeKind::memory, {true, false, false}, {}});
  parts.add_link(link(0, 3));
  parts.add_link(link(3, 1));
  parts.add_link(link(3, 2));
  parts.add_link(link(1, 3));
  const Topology topology(std::move(parts));
  CollectiveSpec spec;
  spec.kind = CollectiveKind::broadcast;
  const Collective copy = make_collective(topology, spec);
  spec.kind = CollectiveKind::reduce;
  spec.root = 2;
  const Collective sum = make_collective(topology, spec);
  const auto schedule = [&](const std::vector<Transfer>& list) {
    return rebuilt(Schedule(topology.link_count()), list);
  };
  const auto over = [](std::uint32_t l, Op op, bool together = false) {
    return Transfer{ChunkId{0}, PathId{l}, op, together};
  };
  // What the relay sends on moves; it has nothing left for the second copy ...
  CHECK(fault_text(topology, copy,
                   schedule({over(0, Op::copy), over(1, Op::copy), over(2, Op::copy)})) ==
        "transfer 2: node relay doesn't hold chunk 0");
  // ... nor may it send twice at once.
  CHECK(fault_text(topology, copy,
                   schedule({over(0, Op::copy), over(1, Op::copy), over(2, Op::copy, true)})) ==
        "transfer 2: node relay can't copy and has sent chunk 0 already");
  CHECK(fault_text(topology, sum, schedule({over(0, Op::reduce), over(3, Op::reduce)})) ==
        "transfer 1: node relay can't reduce chunk 0");
}

TEST_CASE("together reads the state from before the block") {
  const Topology topology = samples::ring(2);
  CollectiveSpec spec;
  spec.kind = CollectiveKind::all_reduce;
  spec.size = Bytes{2};
  const Collective collective = make_collective(topology, spec);
  const auto exchange = [&](bool together) {
    Schedule schedule(topology.link_count());
    for (std::uint32_t c = 0; c < 2; ++c) {
      schedule.push({ChunkId{c}, PathId{0}, Op::reduce, false});
      schedule.push({ChunkId{c}, PathId{1}, Op::reduce, together});
    }
    return schedule;
  };
  CHECK(verify(topology, collective, exchange(true)).correct());
  CHECK(fault_text(topology, collective, exchange(false)) ==
        "transfer 1: contribution of npu0 to chunk 0 is counted twice at npu0");
}

TEST_CASE("the first fault in list order is reported, whatever its chunk") {
  const Topology topology = samples::ring(3, true);
  const Collective collective = make(topology, CollectiveKind::all_gather);
  Schedule schedule(topology.link_count());
  schedule.push(ChunkId{2}, LinkId{0}, Op::copy); // npu0 lacks chunk 2
  schedule.push(ChunkId{0}, LinkId{1}, Op::copy); // npu1 lacks chunk 0
  const Verdict verdict = verify(topology, collective, schedule);
  REQUIRE(verdict.fault);
  CHECK(verdict.fault->transfer == 0);
  CHECK(verdict.fault->text == "transfer 0: node npu0 doesn't hold chunk 2");
}

TEST_CASE("random schedules that were grown by the rules are accepted, spoilt ones mostly not") {
  std::size_t faults = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const testing::RandomCase good = testing::random_case(seed, false);
    INFO("seed " << seed);
    CHECK(verify(good.topology, good.collective, good.schedule).correct());
    const testing::RandomCase spoilt = testing::random_case(seed, true);
    faults += verify(spoilt.topology, spoilt.collective, spoilt.schedule).correct() ? 0 : 1;
  }
  CHECK(faults > 30);
}

TEST_CASE("who waits for a transfer that isn't listed before, or can't wait, is objected to") {
  const Topology star = samples::star(3);
  const Collective collective = make(star, CollectiveKind::broadcast);
  Schedule schedule(star.link_count());
  const auto to = [&](std::uint32_t npu) { // over the hub
    return schedule.paths().intern(std::vector{LinkId{0}, LinkId{2 * npu + 1}});
  };
  schedule.push({ChunkId{0}, to(1), Op::copy, false});
  schedule.push({ChunkId{0}, to(2), Op::copy, true});
  const auto fault_with = [&](std::size_t i, Dependency dependency) {
    Schedule with = schedule;
    with.add_dependency(i, dependency);
    return fault_text(star, collective, with);
  };
  REQUIRE(fault_text(star, collective, schedule).empty());
  CHECK(fault_with(0, {1, Milestone::left}) ==
        "transfer 0: it waits for transfer 1, which isn't listed before it");
  CHECK(fault_with(1, {1, Milestone::left}) ==
        "transfer 1: it waits for transfer 1, which isn't listed before it");
  CHECK(fault_with(1, {0, Milestone::arrived}) == // of its own block
        "transfer 1: it waits for transfer 0, which isn't listed before it");
  CHECK(fault_with(0, {7, Milestone::arrived}) ==
        "transfer 0: it waits for transfer 7, which isn't listed before it");

  TopologyParts parts = samples::star(3).parts();
  parts.nodes.back().can.copy = true;
  const Topology copying(std::move(parts));
  Schedule cast(copying.link_count());
  for (const std::uint32_t link : {0U, 3U, 5U}) cast.push(ChunkId{0}, LinkId{link}, Op::copy);
  REQUIRE(fault_text(copying, collective, cast).empty());
  cast.add_dependency(2, {1, Milestone::left});
  CHECK(fault_text(copying, collective, cast) ==
        "transfer 2: its sender hub can't store, so it can't wait for another");
}

} // namespace verify_test
