// Between list and compact form: what is lost (order across links), and that compacting an expanded
// schedule gives it back.

#include "sim/compact_schedule.hpp"
#include "sim/transforms.hpp"
#include "sim/verify.hpp"
#include "sim/verify_compact.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tutti::compact_schedule_test {

namespace {

/// npu0 > npu1 > ... ; link l leads from npu l to npu l + 1 (and from the last to the first).
Topology one_way_ring(std::uint32_t npus, bool middle_can_copy = true) {
  TopologyParts parts;
  parts.name = "one-way ring";
  for (std::uint32_t n = 0; n < npus; ++n)
    parts.add_node(
        {"npu" + std::to_string(n), NodeKind::npu, {true, n != 1 || middle_can_copy, true}, {}});
  for (std::uint32_t n = 0; n < npus; ++n)
    parts.add_link({NodeId{n}, NodeId{(n + 1) % npus}, Time{1000}, Bandwidth{1'000'000'000}});
  return Topology(std::move(parts));
}

Collective all_gather(const Topology& topology, std::uint32_t chunks_per_shard = 1) {
  return make_collective(topology,
                         {CollectiveKind::all_gather, Bytes{1024}, {}, 0, chunks_per_shard});
}

Schedule schedule_of(const Topology& topology,
                     const std::vector<std::pair<std::uint32_t, std::uint32_t>>& chunk_and_link) {
  Schedule schedule(topology.link_count());
  for (const auto& [chunk, link] : chunk_and_link)
    schedule.push(ChunkId{chunk}, LinkId{link}, Op::copy);
  return schedule;
}

std::vector<std::uint32_t> chunks_on(const CompactSchedule& compact, std::uint32_t link) {
  std::vector<std::uint32_t> chunks;
  for (std::size_t i = compact.copies.begin[link]; i < compact.copies.end[link]; ++i)
    chunks.push_back(compact.copies.chunk_at(i).value);
  return chunks;
}

using Chunks = std::vector<std::uint32_t>;

} // namespace

TEST_CASE("a compact schedule lists the chunks of each link in order") {
  const Topology ring = one_way_ring(3);
  // Everyone passes on its own shard, then what it just got: link 0 carries 0 then 2, link 1
  // carries 1 then 0, link 2 carries 2 then 1.
  const Schedule schedule = schedule_of(ring, {{2, 2}, {0, 0}, {1, 1}, {2, 0}, {0, 1}, {1, 2}});
  REQUIRE(verify(ring, all_gather(ring), schedule).correct());
  const auto compact = compacted(ring, all_gather(ring), schedule);
  REQUIRE(compact);
  CHECK(compact->size() == 6);
  CHECK(chunks_on(*compact, 0) == Chunks{0, 2});
  CHECK(chunks_on(*compact, 1) == Chunks{1, 0});
  CHECK(chunks_on(*compact, 2) == Chunks{2, 1});
}

TEST_CASE("a compact schedule takes 2 bytes a transfer, or 4 where ids don't fit") {
  using Short = std::vector<std::uint16_t>;
  using Long = std::vector<std::uint32_t>;
  const Topology ring = one_way_ring(2);
  for (const std::uint32_t chunks_per_shard : {32'768U, 32'769U}) {
    const Collective many = make_collective(
        ring, {CollectiveKind::all_gather, Bytes{200'000}, {}, 0, chunks_per_shard}); // two shards
    const std::uint32_t last = 2 * chunks_per_shard - 1;
    const auto compact = compacted(ring, many, schedule_of(ring, {{0, 0}, {last, 1}}));
    REQUIRE(compact);
    CHECK(compact->copies.chunk_at(1) == ChunkId{last});
    if (chunks_per_shard == 32'768)
      CHECK(std::get<Short>(compact->copies.chunks).capacity() == 2);
    else
      CHECK(std::get<Long>(compact->copies.chunks).capacity() == 2);
  }
}

TEST_CASE("blocks of a compact schedule may lie in any order, with room between") {
  const Topology ring = one_way_ring(3);
  CompactSchedule compact(3, 3);
  compact.copies.chunks = std::vector<std::uint16_t>{9, 2, 1, 9, 9, 0, 2, 1, 0, 9};
  compact.copies.begin = {5, 7, 1};
  compact.copies.end = {7, 9, 3};
  CHECK(compact.size() == 6);
  CHECK(expanded(ring, all_gather(ring), compact) ==
        schedule_of(ring, {{0, 0}, {1, 1}, {2, 2}, {2, 0}, {0, 1}, {1, 2}}));
}

TEST_CASE("expansion goes round by round, by ascending link") {
  const Topology ring = one_way_ring(3);
  // Broadcast of two chunks from npu0 over links 0 and 1. Round 1: link 0 sends 0 (link 1 has
  // nothing to send yet). Round 2: link 0 sends 1, link 1 sends 0. Round 3: link 1 sends 1.
  const Collective broadcast =
      make_collective(ring, {CollectiveKind::broadcast, Bytes{1024}, {}, 0, 2});
  const CompactSchedule compact = samples::compact({{0, 1}, {0, 1}, {}});
  CHECK(expanded(ring, broadcast, compact) == schedule_of(ring, {{0, 0}, {1, 0}, {0, 1}, {1, 1}}));
}

TEST_CASE("a chunk that arrives in a round is sent on in the next one, not in the same") {
  const Topology ring = one_way_ring(3);
  // Round 1 sends everyone's own shard, although link 1 could send shard 0 right after link 0.
  const CompactSchedule compact = samples::compact({{0, 2}, {1, 0}, {2, 1}});
  CHECK(expanded(ring, all_gather(ring), compact) ==
        schedule_of(ring, {{0, 0}, {1, 1}, {2, 2}, {2, 0}, {0, 1}, {1, 2}}));
}

TEST_CASE("compacting an expanded schedule gives it back") {
  const Topology ring = one_way_ring(5);
  const Collective collective = all_gather(ring, 3);
  // Link l carries, step by step, the three chunks of shard l - step: they came over link l - 1 one
  // step before.
  std::vector<std::vector<std::uint16_t>> chunks(5);
  for (std::uint32_t link = 0; link < 5; ++link)
    for (std::uint32_t step = 0; step < 4; ++step)
      for (std::uint32_t k = 0; k < 3; ++k)
        chunks[link].push_back(static_cast<std::uint16_t>((link + 5 - step) % 5 * 3 + k));
  const CompactSchedule compact = samples::compact(chunks);
  const Schedule schedule = expanded(ring, collective, compact);
  CHECK(schedule.size() == 5 * 4 * 3);
  CHECK(verify(ring, collective, schedule).correct());
  const auto again = compacted(ring, collective, schedule);
  REQUIRE(again);
  CHECK(again->copies.begin == compact.copies.begin);
  CHECK(again->copies.end == compact.copies.end);
  CHECK(again->copies.chunks == compact.copies.chunks);
}

TEST_CASE("sums go up before their copies come down") {
  // Both chunks end at npu2, and chunk 0 goes round to everyone.
  const Topology ring = one_way_ring(3);
  const Collective reduce = make_collective(ring, {CollectiveKind::reduce, Bytes{1024}, {}, 2, 2});
  Schedule schedule(3);
  schedule.push(ChunkId{0}, LinkId{0}, Op::reduce);
  schedule.push(ChunkId{1}, LinkId{0}, Op::reduce);
  schedule.push(ChunkId{1}, LinkId{1}, Op::reduce);
  schedule.push(ChunkId{0}, LinkId{1}, Op::reduce);
  schedule.push(ChunkId{0}, LinkId{2}, Op::copy);
  schedule.push(ChunkId{0}, LinkId{0}, Op::copy);
  REQUIRE(verify(ring, reduce, schedule).correct());
  const auto compact = compacted(ring, reduce, schedule);
  REQUIRE(compact);
  CHECK(compact->size() == 6);
  CHECK(compact->reductions.size() == 4);
  CHECK(compact->reductions.chunk_at(compact->reductions.begin[1]) == ChunkId{1});
  CHECK(chunks_on(*compact, 0) == Chunks{0});
  CHECK(chunks_on(*compact, 1).empty());
  CHECK(verify(ring, reduce, *compact).correct());
  CHECK(expanded(ring, reduce, *compact) == schedule);
}

TEST_CASE("inverted copies are reductions, and have the order of inverted lists") {
  for (const Topology& network : {samples::uneven_mesh(3, 4), samples::ring(6)}) {
    const Collective gather = all_gather(network, 2);
    const Collective scatter =
        make_collective(network, {CollectiveKind::reduce_scatter, Bytes{1024}, {}, 0, 2});
    const Schedule list = *tacos(reversed(network), gather, {}).schedule;
    const CompactSchedule compact = inverted(compacted(reversed(network), gather, list).value());
    CHECK(verify(network, scatter, compact).correct());
    const auto other = compacted(network, scatter, inverted(network, list, Op::reduce));
    REQUIRE(other);
    CHECK(other->reductions.end == compact.reductions.end);
    CHECK(other->reductions.chunks == compact.reductions.chunks);
    CHECK(verify(network, scatter, expanded(network, scatter, compact)).correct());
  }
}

TEST_CASE("sums that have no compact form") {
  const Topology ring = one_way_ring(3);
  const Collective reduce = make_collective(ring, {CollectiveKind::reduce, Bytes{1024}, {}, 2, 2});
  const auto has_none = [&](const std::vector<std::pair<std::uint32_t, Op>>& link_and_op) {
    Schedule schedule(3);
    for (const auto& [link, op] : link_and_op) schedule.push(ChunkId{0}, LinkId{link}, op);
    return !compacted(ring, reduce, schedule).has_value();
  };
  REQUIRE_FALSE(has_none({{0, Op::reduce}, {1, Op::reduce}}));
  CHECK(has_none({{1, Op::reduce}, {0, Op::reduce}}));                  // a part comes too late
  CHECK(has_none({{0, Op::reduce}, {0, Op::reduce}}));                  // or is sent twice
  CHECK(has_none({{0, Op::reduce}, {1, Op::copy}, {2, Op::reduce}}));   // or after a copy
  CHECK(has_none({{0, Op::reduce}, {2, Op::reduce}, {1, Op::reduce}})); // or by whom it left
  Schedule mixed(3);                                                    // a link that copies first
  mixed.push(ChunkId{1}, LinkId{0}, Op::copy);
  mixed.push(ChunkId{0}, LinkId{0}, Op::reduce);
  CHECK_FALSE(compacted(ring, reduce, mixed));
}

TEST_CASE("what has no compact form") {
  const Topology ring = one_way_ring(3);
  const Collective collective = all_gather(ring);
  const auto has_none = [&](const Schedule& schedule) {
    return !compacted(ring, collective, schedule).has_value();
  };
  REQUIRE_FALSE(has_none(schedule_of(ring, {{0, 0}, {0, 1}})));

  SECTION("a reduction") {
    Schedule schedule(3);
    schedule.push(ChunkId{0}, LinkId{0}, Op::reduce);
    CHECK(has_none(schedule));
  }
  SECTION("several hops") {
    Schedule schedule(3);
    const PathId two_hops = schedule.paths().intern(std::vector{LinkId{0}, LinkId{1}});
    schedule.push({ChunkId{0}, two_hops, Op::copy, false});
    CHECK(has_none(schedule));
  }
  SECTION("together") {
    Schedule schedule = schedule_of(ring, {{0, 0}});
    schedule.push({ChunkId{1}, PathId{1}, Op::copy, true});
    CHECK(has_none(schedule));
  }
  SECTION("a chunk twice to one node") { CHECK(has_none(schedule_of(ring, {{0, 0}, {0, 0}}))); }
  SECTION("a chunk to the node that held it from the start") {
    CHECK(has_none(schedule_of(ring, {{0, 0}, {0, 1}, {0, 2}})));
  }
  SECTION("a chunk that its sender doesn't have yet") {
    CHECK(has_none(schedule_of(ring, {{0, 1}, {0, 0}})));
  }
  SECTION("a chunk that isn't there") { CHECK(has_none(schedule_of(ring, {{3, 0}}))); }
}

TEST_CASE("a node that can't copy sends a chunk once") {
  // npu1 has two links out: to npu2 (link 1) and to npu3 (link 4).
  for (const bool can_copy : {true, false}) {
    TopologyParts parts = one_way_ring(4, can_copy).parts();
    parts.add_link({NodeId{1}, NodeId{3}, Time{0}, Bandwidth{1}});
    const Topology topology(std::move(parts));
    const Schedule schedule = schedule_of(topology, {{0, 0}, {0, 1}, {0, 4}});
    CHECK(compacted(topology, all_gather(topology), schedule).has_value() == can_copy);
  }
}

TEST_CASE("expansion refuses what can't happen") {
  const Topology ring = one_way_ring(3);
  const auto error = [&](const CompactSchedule& compact) {
    return message_of([&] { (void)expanded(ring, all_gather(ring), compact); });
  };
  // Shard 0 never crosses link 0.
  CHECK(error(samples::compact({{}, {0}, {}})) ==
        "link 1 (npu1 > npu2): chunk 0 never reaches its sender");
  // Each link first wants what the one before it carries only second.
  CHECK(error(samples::compact({{2, 0}, {0, 1}, {1, 2}})) ==
        "link 0 (npu0 > npu1): chunk 2 never reaches its sender");
  CHECK(error(samples::compact({{0, 0}, {}, {}})) ==
        "link 0 (npu0 > npu1) brings chunk 0 to a node that has it already");
}

TEST_CASE("expansion refuses sums that can't be") {
  const Topology ring = one_way_ring(3);
  const Collective all_reduce =
      make_collective(ring, {CollectiveKind::all_reduce, Bytes{1024}, {}, 0, 1});
  const auto error = [&](const std::vector<std::vector<std::uint16_t>>& reductions) {
    CompactSchedule compact(3, 3);
    compact.reductions = samples::chunk_lists(reductions);
    return message_of([&] { (void)expanded(ring, all_reduce, compact); });
  };
  CHECK(error({{0}, {0}, {}}).empty());
  CHECK(error({{0}, {0}, {0}}) == "link 0 (npu0 > npu1): chunk 0 never reaches its sender");
  CHECK(error({{0, 0}, {}, {}}) ==
        "link 0 (npu0 > npu1) sends a part of chunk 0 that went elsewhere");
}

} // namespace tutti::compact_schedule_test
