// Schedules made from correct schedules must be correct for what they claim to become.

#include "sim/transforms.hpp"

#include "sim/verify.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

#include <algorithm>
#include <array>

namespace transforms_test {

using namespace tutti;
using namespace tutti::samples;

namespace {

Collective collective_on(const Topology& topology, CollectiveKind kind,
                         std::uint32_t chunks_per_shard = 1, std::vector<NodeId> group = {},
                         std::uint32_t root = 0) {
  return make_collective(topology, {kind, Bytes{5040}, std::move(group), root, chunks_per_shard});
}

void check_correct(const Topology& topology, const Collective& collective,
                   const Schedule& schedule) {
  const Verdict verdict = verify(topology, collective, schedule);
  INFO((verdict.fault ? verdict.fault->text : ""));
  CHECK(verdict.correct());
  CHECK(verdict.redundant == 0);
}

std::vector<NodeId> nodes(std::initializer_list<std::uint32_t> ids) {
  std::vector<NodeId> list;
  for (const std::uint32_t id : ids) list.emplace_back(id);
  return list;
}

std::vector<bool> together_bits(const Schedule& schedule) {
  std::vector<bool> bits;
  for (std::size_t i = 0; i < schedule.size(); ++i) bits.push_back(schedule[i].together);
  return bits;
}

std::vector<std::uint32_t> chunk_ids(const Schedule& schedule) {
  std::vector<std::uint32_t> ids;
  for (std::size_t i = 0; i < schedule.size(); ++i) ids.push_back(schedule[i].chunk.value);
  return ids;
}

/// All-Reduce by recursive doubling on a full graph of four: whole buffers, exchanged "together".
Schedule recursive_doubling(const Topology& topology, const Collective& collective) {
  Schedule schedule(topology.link_count());
  for (const std::uint32_t bit : {1U, 2U})
    for (std::uint32_t c = 0; c < collective.chunks.size(); ++c)
      for (std::uint32_t from = 0; from < 4; ++from)
        schedule.push({ChunkId{c}, PathId{samples::link_between(topology, from, from ^ bit).value},
                       Op::reduce, from > 0});
  return schedule;
}

} // namespace

TEST_CASE("an inverted All-Gather is a Reduce-Scatter, a Broadcast a Reduce, a Scatter a Gather") {
  struct Case {
    CollectiveKind made, wanted;
    Op becomes;
  };
  const std::array cases{
      Case{CollectiveKind::all_gather, CollectiveKind::reduce_scatter, Op::reduce},
      Case{CollectiveKind::broadcast, CollectiveKind::reduce, Op::reduce},
      Case{CollectiveKind::scatter, CollectiveKind::gather, Op::copy}};
  for (const Topology& topology : {ring(5, true), uneven_mesh(2, 3), star(4)})
    for (const Case& c : cases)
      for (const std::string_view algorithm : {"ring1", "direct"}) {
        INFO(algorithm << " on " << topology.name() << " for " << to_text(c.wanted));
        const Topology backwards = reversed(topology);
        const Schedule schedule =
            schedule_of(algorithm, backwards, collective_on(backwards, c.made, 2));
        const Schedule inverse = inverted(topology, schedule, c.becomes);
        CHECK(inverse.size() == schedule.size());
        check_correct(topology, collective_on(topology, c.wanted, 2), inverse);
      }
}

TEST_CASE("inversion turns reductions into copies and keeps blocks together") {
  const Topology topology = full(4);
  Schedule schedule(topology.link_count());
  const auto push = [&](std::uint32_t chunk, bool together) {
    schedule.push({ChunkId{chunk}, PathId{chunk}, chunk == 2 ? Op::copy : Op::reduce, together});
  };
  push(0, false);
  push(1, false);
  push(2, true);
  push(3, true);
  push(4, false);
  const Schedule inverse = inverted(topology, schedule, Op::reduce);
  CHECK(chunk_ids(inverse) == std::vector<std::uint32_t>{4, 3, 2, 1, 0});
  CHECK(together_bits(inverse) == std::vector<bool>{false, false, true, true, false});
  CHECK(inverse[0].op == Op::copy);
  CHECK(inverse[2].op == Op::reduce);
  CHECK(inverted(topology, inverse, Op::reduce) == schedule);
}

TEST_CASE("inversion reverses multi-hop paths") {
  const Topology topology = mesh(1, 3);
  Schedule schedule(topology.link_count());
  const std::array way{samples::link_between(topology, 0, 1),
                       samples::link_between(topology, 1, 2)};
  schedule.push({ChunkId{0}, schedule.paths().intern(way), Op::copy, false});
  const Schedule inverse = inverted(topology, schedule, Op::copy);
  const auto back = inverse.paths().links(inverse[0].path);
  CHECK(std::vector(back.begin(), back.end()) == std::vector{way[1], way[0]});
}

TEST_CASE("Reduce-Scatter, then All-Gather, is All-Reduce; the other order isn't") {
  const Topology topology = uneven_mesh(3, 2);
  const Schedule scatter =
      schedule_of("direct", topology, collective_on(topology, CollectiveKind::reduce_scatter));
  const Schedule gather =
      schedule_of("ring1", topology, collective_on(topology, CollectiveKind::all_gather));
  const Collective all_reduce = collective_on(topology, CollectiveKind::all_reduce);
  const Schedule both = concatenated(scatter, gather);
  CHECK(both.size() == scatter.size() + gather.size());
  check_correct(topology, all_reduce, both);
  CHECK_FALSE(verify(topology, all_reduce, concatenated(gather, scatter)).correct());
}

TEST_CASE("interleaved schedules do both collectives, spread evenly") {
  SECTION("two process groups on one mesh") {
    const Topology topology = mesh(3, 3);
    const std::array parts{
        collective_on(topology, CollectiveKind::all_reduce, 2, nodes({0, 1, 2})),
        collective_on(topology, CollectiveKind::all_to_all, 1, nodes({8, 3, 4, 1}))};
    const Schedule a = schedule_of("ring", topology, parts[0]);
    const Schedule b = schedule_of("direct", topology, parts[1]);
    const auto shift = static_cast<std::uint32_t>(parts[0].chunks.size());
    check_correct(topology, merge(parts), interleaved(a, b, shift));
  }
  SECTION("two and four transfers: a b b a b b, blocks unbroken") {
    Schedule a(2), b(2);
    for (std::uint32_t c = 0; c < 2; ++c) a.push(ChunkId{c}, LinkId{0}, Op::copy);
    for (std::uint32_t c = 0; c < 4; ++c) b.push({ChunkId{c}, PathId{1}, Op::copy, c == 1});
    const Schedule both = interleaved(a, b, 10);
    CHECK(chunk_ids(both) == std::vector<std::uint32_t>{0, 10, 11, 1, 12, 13});
    CHECK(together_bits(both) == std::vector<bool>{false, false, true, false, false, false});
  }
}

TEST_CASE("split chunks do the collective with more chunks per shard") {
  SECTION("pipelined") {
    const Topology topology = uneven_mesh(2, 3);
    const Schedule schedule =
        schedule_of("direct", topology, collective_on(topology, CollectiveKind::all_to_all, 2));
    const Schedule split = split_chunks(schedule, 3);
    CHECK(split.size() == 3 * schedule.size());
    CHECK(split[1].chunk.value == schedule[0].chunk.value * 3 + 1);
    check_correct(topology, collective_on(topology, CollectiveKind::all_to_all, 6), split);
    CHECK(split_chunks(schedule, 1) == schedule);
  }
  SECTION("exchanges stay exchanges") {
    const Topology topology = full(4);
    const Schedule split = split_chunks(
        recursive_doubling(topology, collective_on(topology, CollectiveKind::all_reduce)), 2);
    check_correct(topology, collective_on(topology, CollectiveKind::all_reduce, 2), split);
  }
}

namespace {

/// "2>0l 3>1a": who waits for whom, to have left or arrived.
std::string names_in(const Schedule& schedule) {
  std::string text;
  for (std::size_t k = 0; k < schedule.waiting().size(); ++k) {
    const auto [transfer, milestone] = schedule.all_dependencies()[k];
    text += (k > 0 ? " " : "") + std::to_string(schedule.waiting()[k]) + ">" +
            std::to_string(transfer) + (milestone == Milestone::left ? "l" : "a");
  }
  return text;
}

/// Four transfers over one link each, of which the last two name the first two.
Schedule with_names(const Topology& topology) {
  Schedule schedule(topology.link_count());
  for (std::uint32_t i = 0; i < 4; ++i) schedule.push(ChunkId{i}, LinkId{i}, Op::copy);
  schedule.add_dependency(2, {0, Milestone::left});
  schedule.add_dependency(3, {1, Milestone::arrived});
  schedule.add_dependency(3, {2, Milestone::left});
  return schedule;
}

} // namespace

TEST_CASE("dependencies go where their transfers go") {
  const Topology topology = ring(4, true);
  const Schedule schedule = with_names(topology);
  CHECK(names_in(concatenated(schedule, schedule)) == "2>0l 3>1a 3>2l 6>4l 7>5a 7>6l");
  CHECK(names_in(interleaved(schedule, schedule, 4)) == "4>0l 5>1l 6>2a 6>4l 7>3a 7>5l");
  CHECK(names_in(split_chunks(schedule, 2)) == "4>0l 5>1l 6>2a 6>4l 7>3a 7>5l");

  Schedule kept(topology.link_count()); // without transfer 2: who named it waits for what it named
  for (const std::uint32_t i : {0U, 1U, 3U}) kept.push(schedule[i]);
  carry_dependencies(schedule, std::vector<std::uint32_t>{0, 1, UINT32_MAX, 2}, kept);
  CHECK(names_in(kept) == "2>0l 2>1a");
}

TEST_CASE("in an inverted schedule those wait that were waited for") {
  TopologyParts parts = ring(4, true).parts();
  CHECK(names_in(inverted(Topology(parts), with_names(Topology(parts)), Op::reduce)) ==
        "1>0l 2>0a 3>1l");
  parts.links[0].latency = parts.links[0].latency + Time{1}; // and leave later than they arrive
  const Topology uneven(parts);
  CHECK(names_in(inverted(uneven, with_names(uneven), Op::reduce)) == "1>0l 2>0a 3>1a");
}

} // namespace transforms_test
