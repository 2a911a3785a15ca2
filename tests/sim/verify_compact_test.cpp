// The verdict on a compact schedule is that on its expanded list, wherever there is one; and each
// fault by itself.

#include "sim/compact_schedule.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "sim/verify_compact.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tutti::verify_compact_test {

namespace {

using Lists = std::vector<std::vector<std::uint16_t>>;

std::string fault_of(const Topology& topology, const Collective& collective, const Lists& lists) {
  const Verdict verdict = verify(topology, collective, samples::compact(lists));
  CHECK(verdict.redundant == 0);
  return verdict.fault ? verdict.fault->text : "";
}

/// A line npu0 > npu1 > npu2, and a Broadcast of two chunks from npu0.
struct Line {
  explicit Line(bool middle_can_copy = true) {
    TopologyParts parts = samples::npus("line", 3);
    parts.nodes[1].can.copy = middle_can_copy;
    parts.add_link(samples::link(0, 1));
    parts.add_link(samples::link(1, 2));
    parts.add_link(samples::link(1, 0));
    parts.add_link(samples::link(1, 2));
    topology = Topology(std::move(parts));
    collective = make_collective(topology, {CollectiveKind::broadcast, Bytes{1024}, {}, 0, 2});
  }
  Topology topology = samples::ring(2);
  Collective collective;
};

/// Everything that a synthesizer or a file could get wrong.
Lists broken(Lists lists, Random& random, std::uint32_t chunks) {
  const auto some_list = [&]() -> std::vector<std::uint16_t>& {
    return lists[random.below(lists.size())];
  };
  for (std::uint64_t faults = random.below(3); faults > 0; --faults) {
    std::vector<std::uint16_t>& list = some_list();
    if (list.empty()) continue;
    const std::size_t at = random.below(list.size());
    switch (random.below(5)) {
    case 0: std::swap(list[at], list[random.below(list.size())]); break;
    case 1: list.erase(list.begin() + static_cast<std::ptrdiff_t>(at)); break;
    case 2: list.push_back(list[at]); break;
    case 3: list[at] = static_cast<std::uint16_t>(random.below(chunks)); break;
    default:
      some_list().push_back(list[at]);
      lists[0].push_back(0);
      break;
    }
  }
  return lists;
}

Lists lists_of(const ChunkLists& from) {
  Lists lists(from.link_count());
  for (std::uint32_t l = 0; l < from.link_count(); ++l)
    for (std::size_t i = from.begin[l]; i < from.end[l]; ++i)
      lists[l].push_back(static_cast<std::uint16_t>(from.chunk_at(i).value));
  return lists;
}

bool list_is_right(const Topology& topology, const Collective& collective,
                   const CompactSchedule& compact) {
  try {
    return verify(topology, collective, expanded(topology, collective, compact)).correct();
  } catch (const InputError&) {
    return false;
  }
}

} // namespace

TEST_CASE("a compact schedule is right if its transfers can happen in some order") {
  const Line line;
  CHECK(fault_of(line.topology, line.collective, {{0, 1}, {0, 1}, {}, {}}) == "");
  CHECK(fault_of(line.topology, line.collective, {{1, 0}, {0}, {}, {1}}) == "");
}

TEST_CASE("faults of a compact schedule are told in words") {
  const Line line;
  const auto fault = [&line](const Lists& lists) {
    return fault_of(line.topology, line.collective, lists);
  };
  CHECK(fault({{0}, {0, 1}, {}, {}}) ==
        "transfer 1 of link 1 (npu1 > npu2): node npu1 doesn't hold chunk 1");
  CHECK(fault({{0, 1}, {0}, {}, {}}) == "chunk 1 never reaches npu2");
  CHECK(fault({{0, 1, 0}, {0, 1}, {}, {}}) ==
        "transfer 2 of link 0 (npu0 > npu1): chunk 0 is at node npu1 already");
  CHECK(fault({{0, 1}, {0, 1}, {1}, {}}) ==
        "transfer 0 of link 2 (npu1 > npu0): chunk 1 is at node npu0 already");
  CHECK(fault({{0, 7}, {0, 1}, {}, {}}) ==
        "transfer 1 of link 0 (npu0 > npu1): there is no chunk 7 (the collective has 2)");
  CHECK(fault({{0, 1}, {0, 1}, {}}) == "the schedule speaks of 3 links, the topology has 4");
  CompactSchedule compact = samples::compact(Lists{{0, 1}, {0, 1}, {}, {}});
  compact.copies.end[3] = 9;
  const Verdict verdict = verify(line.topology, line.collective, compact);
  REQUIRE(verdict.fault);
  CHECK(verdict.fault->text == "the transfers 4 .. 9 of link 3 aren't there (there are 4)");
}

TEST_CASE("lists that wait for each other in a cycle are a fault") {
  const Topology ring = samples::ring(3, true);
  const Collective collective =
      make_collective(ring, {CollectiveKind::all_gather, Bytes{1024}, {}, 0, 1});
  CHECK(fault_of(ring, collective, {{0, 2}, {1, 0}, {2, 1}}) == "");
  CHECK(fault_of(ring, collective, {{2, 0}, {0, 1}, {1, 2}}) ==
        "transfer 0 of link 0 (npu0 > npu1): node npu0 doesn't hold chunk 2");
}

TEST_CASE("a node that can't copy gives a chunk away with its first send") {
  const Line line(false);
  // npu1 wants what it has to give away.
  CHECK(fault_of(line.topology, line.collective, {{0, 1}, {0, 1}, {}, {}}) ==
        "chunk 0 never reaches npu1");
  Collective scatter = line.collective;
  for (Chunk& chunk : scatter.chunks) chunk.destinations = static_cast<SetId>(scatter.sets.size());
  scatter.sets.push_back({NodeId{2}});
  CHECK(fault_of(line.topology, scatter, {{0, 1}, {0, 1}, {}, {}}) == "");
  scatter.sets.back() = {};
  CHECK(fault_of(line.topology, scatter, {{0}, {}, {}, {}}) == "");
  TopologyParts parts = line.topology.parts();
  parts.nodes.push_back({"npu3", NodeKind::npu, {}, {}});
  parts.add_link({NodeId{1}, NodeId{3}, Time{0}, Bandwidth{1}});
  CHECK(fault_of(Topology(std::move(parts)), scatter, {{0}, {0}, {}, {}, {0}}) ==
        "transfer 0 of link 4 (npu1 > npu3): node npu1 can't copy and has sent chunk 0 already");
}

TEST_CASE("copies don't complete what several contribute to") {
  const Line line;
  Collective reduction = line.collective;
  for (Chunk& chunk : reduction.chunks) chunk.reduces = true;
  CHECK(fault_of(line.topology, reduction, {{0, 1}, {0, 1}, {}, {}}) == "");
  reduction.chunks[1].sources = static_cast<SetId>(reduction.sets.size());
  reduction.sets.push_back({NodeId{0}, NodeId{2}});
  CHECK(fault_of(line.topology, reduction, {{0, 1}, {0}, {}, {}}) ==
        "chunk 1 is not complete at npu0: nothing combines the contributions of npu0 and npu2");
}

TEST_CASE("a compact schedule is right exactly where its list is") {
  Random random(7);
  std::size_t right = 0, wrong = 0;
  for (const bool all_copy : {true, false})
    for (const Topology& whole :
         {samples::ring(7), samples::uneven_mesh(3, 4), samples::full(5), samples::mesh(3, 3)}) {
      TopologyParts parts = whole.parts();
      parts.nodes[4].can.copy = all_copy;
      const Topology topology(std::move(parts));
      for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::broadcast}) {
        const Collective collective = make_collective(whole, {kind, Bytes{1'000'003}, {}, 0, 3});
        const Schedule list = *tacos(whole, collective, {}).schedule;
        const Lists lists = lists_of(compacted(whole, collective, list).value().copies);
        for (int i = 0; i < 60; ++i) {
          const CompactSchedule compact = samples::compact(
              broken(lists, random, static_cast<std::uint32_t>(collective.chunks.size())));
          const bool expected = list_is_right(topology, collective, compact);
          const Verdict verdict = verify(topology, collective, compact);
          INFO(topology.name() << (verdict.fault ? verdict.fault->text : ""));
          CHECK(verdict.correct() == expected);
          ++(expected ? right : wrong);
        }
      }
    }
  CHECK(right > 100);
  CHECK(wrong > 100);
}

TEST_CASE("so it is with sums, spoilt in what is reduced and in what is copied") {
  Random random(8);
  std::size_t right = 0, wrong = 0;
  for (const bool all_reduce : {true, false})
    for (const Topology& whole :
         {samples::ring(7), samples::uneven_mesh(3, 4), samples::full(5), samples::mesh(3, 3)}) {
      TopologyParts parts = whole.parts();
      parts.nodes[4].can.reduce = all_reduce;
      const Topology topology(std::move(parts));
      for (const CollectiveKind kind :
           {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::reduce}) {
        const Collective collective = make_collective(whole, {kind, Bytes{1'000'003}, {}, 0, 3});
        SynthesisOptions options;
        options.settings["all_reduce"] = "sequential";
        const Schedule list = *tacos(whole, collective, options).schedule;
        const auto made = compacted(whole, collective, list);
        REQUIRE(made);
        for (int i = 0; i < 60; ++i) {
          const auto chunks = static_cast<std::uint32_t>(collective.chunks.size());
          CompactSchedule compact = *made;
          if (i % 3 != 1)
            compact.reductions =
                samples::chunk_lists(broken(lists_of(made->reductions), random, chunks));
          if (i % 3 != 0)
            compact.copies = samples::chunk_lists(broken(lists_of(made->copies), random, chunks));
          const bool expected = list_is_right(topology, collective, compact);
          const Verdict verdict = verify(topology, collective, compact);
          INFO(topology.name() << ' ' << (verdict.fault ? verdict.fault->text : ""));
          CHECK(verdict.correct() == expected);
          ++(expected ? right : wrong);
        }
      }
    }
  CHECK(right > 100);
  CHECK(wrong > 300);
}

TEST_CASE("faults of sums are told in words") {
  const Topology ring = samples::ring(3, true);
  const Collective collective =
      make_collective(ring, {CollectiveKind::all_reduce, Bytes{1024}, {}, 0, 1});
  const auto fault = [&](const Lists& reductions, const Lists& copies) {
    CompactSchedule compact = samples::compact(copies);
    compact.reductions = samples::chunk_lists(reductions);
    const Verdict verdict = verify(ring, collective, compact);
    return verdict.fault ? verdict.fault->text : "";
  };
  const Lists up{{2, 1}, {0, 2}, {1, 0}}, down{{0, 2}, {1, 0}, {2, 1}};
  CHECK(fault(up, down) == "");
  CHECK(fault({{2, 1}, {0, 2}, {1}}, {{0, 2}, {1}, {2, 1}}) ==
        "chunk 0 is not complete at npu0: nothing combines the contributions of npu0 and npu2");
  CHECK(fault({{2, 1}, {0, 2}, {1}}, down) ==
        "transfer 1 of link 1 (npu1 > npu2): chunk 0 is at node npu2 already");
  CHECK(fault(up, {{0, 2}, {1}, {2, 1}}) == "chunk 0 never reaches npu2");
  CHECK(fault({{2, 1}, {0, 2}, {1, 9}}, down) ==
        "reduction 1 of link 2 (npu2 > npu0): there is no chunk 9 (the collective has 3)");
  CHECK(fault({{2, 1, 2}, {0, 2}, {1, 0}}, down) ==
        "reduction 2 of link 0 (npu0 > npu1): node npu0 doesn't hold chunk 2");
  CHECK(fault({{1, 2}, {2, 0}, {0, 1}}, down) == // each waits for the next
        "reduction 0 of link 0 (npu0 > npu1): node npu0 waits for 1 more of chunk 1, which "
        "never comes");
  CompactSchedule gather = samples::compact(down);
  gather.reductions = samples::chunk_lists(Lists{{0}, {}, {}});
  CHECK(verify(ring, make_collective(ring, {CollectiveKind::all_gather, Bytes{1024}, {}, 0, 1}),
               gather)
            .fault->text == "reduction 0 of link 0 (npu0 > npu1): chunk 0 is the sum of nothing");
}

} // namespace tutti::verify_compact_test
