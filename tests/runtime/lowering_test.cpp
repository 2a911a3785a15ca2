// Schedules of every algorithm lower to programs that verify_program() accepts, with no dependency
// that could be left out.

#include "runtime/lowering/lowering.hpp"

#include "algorithms/list.hpp"
#include "runtime/checking/verify_program.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/verify.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lowering_test {

using namespace tutti;
using namespace tutti::runtime;

namespace {

void check_lowers(const Topology& topology, const Collective& collective, const Schedule& schedule,
                  const LoweringOptions& options) {
  INFO("instances " << options.instances << (options.in_place ? ", in place" : "")
                    << (options.fuse ? ", fused" : "") << (options.share_blocks ? ", shared" : ""));
  const Program program = lower(topology, collective, schedule, options);
  for (const std::uint32_t slots : {1U, 0U}) {
    const ProgramVerdict verdict = verify_program(program, slots);
    INFO((verdict.fault ? verdict.fault->text : ""));
    REQUIRE(verdict.correct());
  }
}

/// Every combination of the options that applies.
void check_lowers(const Topology& topology, const Collective& collective,
                  const Schedule& schedule) {
  for (const std::uint32_t instances : {1U, 2U})
    for (const bool in_place : {false, true})
      for (const bool fuse : {false, true})
        for (const bool share : {false, true})
          if (!in_place || can_be_in_place(collective))
            check_lowers(topology, collective, schedule,
                         {"x", instances, 32, in_place, fuse, share});
}

std::vector<const AlgorithmRow*> rows(std::string_view only_synthesizers) {
  std::vector<const AlgorithmRow*> rows;
  if (only_synthesizers.empty())
    for (const AlgorithmRow& row : baseline_algorithms()) rows.push_back(&row);
  for (const AlgorithmRow& row : synthesizers())
    if (only_synthesizers.find(row.name) != std::string_view::npos) rows.push_back(&row);
  return rows;
}

std::size_t check_all(const std::vector<const AlgorithmRow*>& rows, std::string_view topology_text,
                      std::uint32_t chunks_per_shard) {
  const Topology topology = make_topology(topology_text);
  std::size_t lowered = 0;
  for (const CollectiveKind kind : named_collectives())
    for (const AlgorithmRow* row : rows) {
      if (std::ranges::find(row->collectives, kind) == row->collectives.end()) continue;
      const std::uint32_t cut = std::max(chunks_per_shard, row->chunk_multiple);
      const Collective collective =
          make_collective(topology, {kind, Bytes{1 << 17}, {}, has_root(kind) ? 3U : 0U, cut});
      SynthesisOptions options;
      options.limit_seconds = 5;
      const Outcome outcome = synthesize(*row, topology, collective, options);
      if (!outcome.schedule) continue;
      INFO(row->name << " for " << collective.name() << " on " << topology_text);
      check_lowers(topology, collective, *outcome.schedule);
      ++lowered;
    }
  return lowered;
}

} // namespace

TEST_CASE("every baseline lowers to a correct program") {
  for (const std::string_view topology :
       {"ring:8", "dgx1", "mesh2d:2x4", "hypercube:3", "switch:8"}) {
    const std::size_t lowered = check_all(rows(""), topology, 1);
    INFO(topology);
    CHECK(lowered > 20);
  }
}

TEST_CASE("synthesized schedules lower to correct programs") {
  for (const std::string_view topology : {"ring:8", "dgx1", "mesh2d:2x4", "switch:8"}) {
    const std::size_t lowered = check_all(rows("tacos flows trees"), topology, 2);
    INFO(topology);
    CHECK(lowered > 5);
  }
}

namespace {

Collective collective_on(const Topology& topology, CollectiveKind kind,
                         std::uint32_t chunks_per_shard = 1) {
  return make_collective(topology, {kind, Bytes{1 << 12}, {}, 0, chunks_per_shard});
}

/// "s rrc r ".
std::string kinds_of(const Block& block) {
  std::string text;
  for (const Step& step : block.steps) text += std::string(to_text(step.kind)) + " ";
  return text;
}

std::size_t dependencies(const Program& program) {
  std::size_t count = 0;
  for (const RankProgram& rank : program.ranks)
    for (const Block& block : rank.blocks)
      for (const Step& step : block.steps) count += step.after ? 1 : 0;
  return count;
}

/// Hosts h0 (0), h1 (1) and h2 (2) on a switch (3), which does what `can` says.
Topology hub(Abilities can) {
  TopologyParts parts = tutti::samples::npus("hub", 3);
  parts.add_node({"hub", NodeKind::switching, can, {}});
  for (std::uint32_t n = 0; n < 3; ++n) parts.add_duplex(tutti::samples::link(n, 3));
  return Topology(std::move(parts));
}
constexpr LinkId to_hub(std::uint32_t n) { return LinkId{2 * n}; }
constexpr LinkId from_hub(std::uint32_t n) { return LinkId{2 * n + 1}; }

} // namespace

TEST_CASE("a ring is one block in each rank that sends on what it receives") {
  const Topology topology = make_topology("ring:5,directions=1");
  const Collective collective = collective_on(topology, CollectiveKind::all_reduce);
  const Outcome ring = ring_unidirectional(topology, collective, {});
  LoweringOptions options;
  options.share_blocks = true;
  const Program program = lower(topology, collective, *ring.schedule, options);
  // Of the eight messages that come to a rank it passes on seven. If all ranks sent on in one step
  // at the same time, each would wait for the next one's only slot: of each seven, one doesn't.
  std::size_t receipts = 0, fused = 0;
  for (const RankProgram& rank : program.ranks) {
    REQUIRE(rank.blocks.size() == 1);
    CHECK(rank.scratch == 0);
    CHECK(rank.blocks[0].steps.front().kind == StepKind::send);
    CHECK(rank.blocks[0].steps.back().kind == StepKind::receive);
    for (const Step& step : rank.blocks[0].steps) {
      receipts += receives(step.kind) ? 1 : 0;
      fused += receives(step.kind) && sends(step.kind) ? 1 : 0;
    }
  }
  CHECK(receipts == 5 * 8);
  CHECK(fused == 7 * (5 - 1));
  CHECK(dependencies(program) == 0);
}

TEST_CASE("what can't be fused or shared stands alone") {
  const Topology topology = make_topology("ring:5,directions=1");
  const Collective collective = collective_on(topology, CollectiveKind::all_gather);
  const Outcome ring = ring_unidirectional(topology, collective, {});
  LoweringOptions options;
  options.fuse = false;
  options.share_blocks = true;
  const Program shared = lower(topology, collective, *ring.schedule, options);
  CHECK(shared.ranks[2].blocks.size() == 2); // with the one that copies the own shard
  CHECK(kinds_of(shared.ranks[2].blocks[0]) == "s r s r s r s r ");
  CHECK(kinds_of(shared.ranks[2].blocks[1]) == "cpy ");
  CHECK(dependencies(shared) == 0);
  options.share_blocks = false;
  const Program alone = lower(topology, collective, *ring.schedule, options);
  REQUIRE(alone.ranks[2].blocks.size() == 3);
  CHECK(kinds_of(alone.ranks[2].blocks[0]) == "r r r r ");
  CHECK(kinds_of(alone.ranks[2].blocks[1]) == "s s s s ");
  CHECK(dependencies(alone) == 5 * 3); // each waits for what it passes on
}

TEST_CASE("relays use the same scratch again") {
  // Eight chunks along a line of four: ranks 1 and 2 only pass them on.
  const Topology topology = tutti::samples::mesh(1, 4);
  Collective collective;
  collective.sets = {{NodeId{0}}, {NodeId{3}}};
  collective.chunks.assign(8, {Bytes{64}, 0, 1});
  collective.parts = {
      {CollectiveKind::custom, Bytes{512}, {NodeId{0}, NodeId{3}}, 0, 1, ChunkId{0}, 8}};
  Schedule schedule(topology.link_count());
  for (std::uint32_t c = 0; c < 8; ++c)
    for (std::uint32_t n = 0; n < 3; ++n)
      schedule.push(ChunkId{c}, tutti::samples::link_between(topology, n, n + 1), Op::copy);
  for (const bool share : {true, false})
    for (const std::uint32_t instances : {1U, 3U}) {
      LoweringOptions options;
      options.share_blocks = share;
      options.instances = instances;
      check_lowers(topology, collective, schedule, options);
      const Program program = lower(topology, collective, schedule, options);
      for (const std::uint32_t relay : {1U, 2U}) {
        CHECK(program.ranks[relay].scratch >= instances);
        CHECK(program.ranks[relay].scratch <= 2 * instances);
      }
      CHECK(program.ranks[0].scratch + program.ranks[3].scratch == 0);
    }
}

TEST_CASE("no dependency can be left out") {
  std::size_t left_out = 0;
  for (const char* text : {"mesh2d:2x2", "ring:4", "dgx1"})
    for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather})
      for (const std::string_view name : {"direct", "multitree", "ring"}) {
        const Topology topology = make_topology(text);
        const Collective collective = collective_on(topology, kind, 2);
        const AlgorithmRow& row =
            *std::ranges::find(baseline_algorithms(), name, &AlgorithmRow::name);
        const Outcome outcome = synthesize(row, topology, collective, {});
        LoweringOptions options;
        options.share_blocks = false;
        Program program = lower(topology, collective, *outcome.schedule, options);
        for (RankProgram& rank : program.ranks)
          for (Block& block : rank.blocks)
            for (Step& step : block.steps) {
              if (!step.after) continue;
              const StepAt after = *step.after;
              step.after.reset();
              const ProgramVerdict verdict = verify_program(program, 0);
              INFO(text << " " << name << " " << to_text(kind));
              // Messages order a few that neither program order nor other dependencies do.
              if (verdict.fault) CHECK(verdict.fault->kind == ProgramFault::Kind::race);
              left_out += verdict.fault ? 1 : 0;
              step.after = after;
            }
      }
  CHECK(left_out > 100);
}

TEST_CASE("partial sums are exchanged before they are added to") {
  const Topology topology = tutti::samples::full(2);
  const Collective collective = collective_on(topology, CollectiveKind::all_reduce);
  Schedule schedule(topology.link_count());
  for (const std::uint32_t c : {0U, 1U}) {
    schedule.push({ChunkId{c}, PathId{0}, Op::reduce, c == 1});
    schedule.push({ChunkId{c}, PathId{1}, Op::reduce, true});
  }
  REQUIRE(verify(topology, collective, schedule).correct());
  check_lowers(topology, collective, schedule);
  LoweringOptions options;
  options.in_place = true;
  options.share_blocks = false;
  const Program program = lower(topology, collective, schedule, options);
  CHECK(dependencies(program) == 4); // a receipt adds to what must have been sent
  options.in_place = false;
  CHECK(dependencies(lower(topology, collective, schedule, options)) == 0);
}

TEST_CASE("what a switch copies comes from the rank that sent it") {
  const Topology topology = hub({true, true, false});
  const Collective collective =
      make_collective(topology, {CollectiveKind::broadcast, Bytes{1 << 12}, {}, 0, 1});
  Schedule schedule(topology.link_count());
  schedule.push(ChunkId{0}, to_hub(0), Op::copy);
  schedule.push(ChunkId{0}, from_hub(1), Op::copy);
  schedule.push(ChunkId{0}, from_hub(2), Op::copy);
  check_lowers(topology, collective, schedule);
  const Program program = lower(topology, collective, schedule, {});
  REQUIRE(program.ranks[0].blocks.size() == 3);
  CHECK(program.ranks[0].blocks[0].sends_to == 1U);
  CHECK(program.ranks[0].blocks[1].sends_to == 2U);
  CHECK(program.ranks[2].blocks[0].receives_from == 0U);
}

TEST_CASE("what a program can't do is refused in words") {
  const Topology topology = hub({true, true, true});
  Collective reduce = make_collective(topology, {CollectiveKind::reduce, Bytes{1 << 12}, {}, 0, 1});
  Schedule sums(topology.link_count());
  sums.push(ChunkId{0}, to_hub(1), Op::reduce);
  sums.push(ChunkId{0}, to_hub(2), Op::reduce);
  sums.push(ChunkId{0}, from_hub(0), Op::reduce);
  REQUIRE(verify(topology, reduce, sums).correct());
  CHECK(message_of([&] { (void)lower(topology, reduce, sums); }) ==
        "transfer 1: hub combines chunk 0, but a program combines at NPUs only");

  // The hub passes on what rank 1 had before rank 2 added to it.
  Collective partial = reduce;
  partial.sets = {{NodeId{1}, NodeId{2}}, {NodeId{1}}};
  partial.chunks = {{Bytes{64}, 0, 1, true}};
  Schedule late(topology.link_count());
  const std::array way{to_hub(2), from_hub(1)};
  late.push(ChunkId{0}, to_hub(1), Op::copy);
  late.push({ChunkId{0}, late.paths().intern(way), Op::reduce, false});
  late.push(ChunkId{0}, from_hub(0), Op::copy);
  REQUIRE(verify(topology, partial, late).correct());
  CHECK(message_of([&] { (void)lower(topology, partial, late); }) ==
        "transfer 2: chunk 0 is passed on from npu1, where transfer 1 has changed it since");

  // npu2 knows nothing of what npu1 sends to npu3, nor when what it sends itself has arrived there.
  const Collective gather = collective_on(topology, CollectiveKind::all_gather);
  Schedule waiting(topology.link_count());
  const auto over = [&](std::uint32_t from, std::uint32_t to) {
    return waiting.paths().intern(std::array{to_hub(from), from_hub(to)});
  };
  waiting.push({ChunkId{1}, over(1, 0), Op::copy, false});
  waiting.push({ChunkId{2}, over(2, 1), Op::copy, false});
  waiting.push({ChunkId{2}, over(2, 0), Op::copy, false});
  const auto refusal_with = [&](Dependency dependency) {
    Schedule with = waiting;
    with.add_dependency(2, dependency);
    return message_of([&] { (void)lower(topology, gather, with); });
  };
  CHECK(refusal_with({0, Milestone::left}) ==
        "transfer 2 of npu2 waits for transfer 0 to have left, of which npu2 knows nothing: a "
        "program waits for what its own rank has sent or received");
  CHECK(refusal_with({1, Milestone::arrived}) ==
        "transfer 2 of npu2 waits for transfer 1 to have arrived, of which npu2 knows nothing: a "
        "program waits for what its own rank has sent or received");
  CHECK(refusal_with({1, Milestone::left}).empty());

  Collective stored = partial;
  stored.sets[1] = {NodeId{3}};
  CHECK(message_of([&] { (void)lower(topology, stored, late); }) ==
        "hub holds or wants a chunk, but only NPUs have programs");

  LoweringOptions options;
  options.instances = 0;
  CHECK_THROWS_AS(lower(topology, reduce, sums, options), InputError);
  options = {};
  options.in_place = true;
  const Collective exchange = collective_on(topology, CollectiveKind::all_to_all);
  CHECK_THROWS_AS(lower(topology, exchange, Schedule(topology.link_count()), options), InputError);
}

TEST_CASE("parallel links are channels") {
  TopologyParts parts = tutti::samples::npus("two links", 2);
  const std::array links{parts.add_link(tutti::samples::link(0, 1)),
                         parts.add_link(tutti::samples::link(0, 1))};
  const Topology topology(std::move(parts));
  Collective two;
  two.sets = {{NodeId{0}}, {NodeId{1}}};
  two.chunks = {{Bytes{64}, 0, 1}, {Bytes{64}, 0, 1}};
  two.parts = {{CollectiveKind::custom, Bytes{128}, {NodeId{0}, NodeId{1}}, 0, 1, ChunkId{0}, 2}};
  Schedule schedule(topology.link_count());
  schedule.push(ChunkId{0}, links[0], Op::copy);
  schedule.push(ChunkId{1}, links[1], Op::copy);
  LoweringOptions options;
  CHECK(lower(topology, two, schedule, options).channel_count() == 2);
  options.instances = 3;
  CHECK(lower(topology, two, schedule, options).channel_count() == 6);
  options.most_channels = 3;
  const Program one = lower(topology, two, schedule, options);
  CHECK(one.channel_count() == 3);
  CHECK(verify_program(one).correct());
}

TEST_CASE("the same schedule is the same program") {
  const Topology topology = make_topology("mesh2d:2x4");
  const Collective collective = collective_on(topology, CollectiveKind::all_reduce, 2);
  const Outcome outcome = tacos(topology, collective, {});
  const Program a = lower(topology, collective, *outcome.schedule, {});
  const Program b = lower(topology, collective, *outcome.schedule, {});
  CHECK(a.ranks == b.ranks);
}

namespace {

/// Times the program's step that sends to `peer` first waits for: block and step.
std::optional<StepAt> first_wait(const RankProgram& rank, std::uint32_t peer) {
  for (const Block& block : rank.blocks)
    if (block.sends_to == peer)
      for (const Step& step : block.steps)
        if (step.after) return step.after;
  return std::nullopt;
}

} // namespace

TEST_CASE("chunks that share a send and lie side by side are one step") {
  const Topology topology = samples::full(2);
  const Collective collective =
      make_collective(topology, {CollectiveKind::all_gather, Bytes{600}, {}, 0, 3});
  const auto lowered = [&](const std::vector<std::uint32_t>& chunks, std::uint32_t instances) {
    Schedule schedule(topology.link_count());
    schedule.push(ChunkId{3}, LinkId{1}, Op::copy);
    schedule.push({ChunkId{4}, PathId{1}, Op::copy, false, true});
    schedule.push(ChunkId{5}, LinkId{1}, Op::copy);
    for (const std::uint32_t chunk : chunks)
      schedule.push({ChunkId{chunk}, PathId{0}, Op::copy, false, chunk != chunks.front()});
    REQUIRE(verify(topology, collective, schedule).correct());
    LoweringOptions options;
    options.instances = instances;
    const Program program = lower(topology, collective, schedule, options);
    for (const std::uint32_t slots : {1U, 0U}) REQUIRE(verify_program(program, slots).correct());
    std::vector<std::uint32_t> counts; // of what rank 0 sends
    for (const Block& block : program.ranks[0].blocks)
      for (const Step& step : block.steps)
        if (step.kind == StepKind::send) counts.push_back(step.count);
    return counts;
  };
  using Counts = std::vector<std::uint32_t>;
  CHECK(lowered({0, 1, 2}, 1) == Counts{3});
  CHECK(lowered({2, 0, 1}, 1) == Counts{3}); // whatever order the list has them in
  CHECK(lowered({0, 1, 2}, 2).size() == 6);  // parts of chunks don't lie side by side
}

TEST_CASE("steps wait for what the schedule names") {
  // npu0 passes on what npu3 sent it before it sends npu2 something of its own, or only when it has
  // received something else.
  const Topology star = make_topology("switch:4");
  Collective collective;
  collective.sets = {{NodeId{3}}, {NodeId{1}}, {NodeId{0}}, {NodeId{2}}};
  collective.chunks = {{Bytes{1 << 12}, 0, 1, false}, {Bytes{1 << 12}, 2, 3, false}};
  CollectivePart part;
  part.chunk_count = 2;
  collective.parts = {part};
  for (const Milestone milestone : {Milestone::left, Milestone::arrived}) {
    Schedule schedule(star.link_count());
    const auto push = [&](std::uint32_t chunk, std::uint32_t from, std::uint32_t to) {
      const std::array links{star.out_links(NodeId{from})[0], star.in_links(NodeId{to})[0]};
      schedule.push({ChunkId{chunk}, schedule.paths().intern(links), Op::copy, false});
    };
    push(0, 3, 0);
    push(0, 0, 1);
    push(1, 0, 2);
    CHECK_FALSE(first_wait(lower(star, collective, schedule).ranks[0], 2));
    const bool left = milestone == Milestone::left;
    schedule.add_dependency(2, {left ? 1U : 0U, milestone});
    REQUIRE(verify(star, collective, schedule).correct());
    check_lowers(star, collective, schedule);
    const Program program = lower(star, collective, schedule);
    const auto wait = first_wait(program.ranks[0], 2);
    REQUIRE(wait);
    const Block& awaited = program.ranks[0].blocks[wait->block];
    CHECK((left ? awaited.sends_to == 1U : awaited.receives_from == 3U));

    // And back: the program's wait is the schedule's dependency.
    const ForeignSchedule back = schedule_of(star, program);
    REQUIRE(back.schedule.size() == 3);
    REQUIRE(back.schedule.waiting().size() == 1);
    CHECK(back.schedule.all_dependencies()[0].milestone == milestone);
    CHECK(run_native(star, back.collective, back.schedule, {}).completion ==
          run_native(star, collective, schedule, {}).completion);
  }
}

TEST_CASE("programs of plans that dependencies keep take as long as the plan") {
  // What ranks pass on lies in scratch, for which a receipt doesn't wait.
  for (const char* text : {"teccl_internal:4x2", "teccl_internal:2x4"}) {
    const Topology topology = make_topology(text);
    const Collective collective =
        make_collective(topology, {CollectiveKind::all_to_all, Bytes{16'000'000}, {}, 0, 1});
    const Outcome outcome = teccl(topology, collective, {});
    REQUIRE(outcome.schedule);
    REQUIRE(outcome.schedule->has_dependencies());
    INFO(text);
    check_lowers(topology, collective, *outcome.schedule);
    const ForeignSchedule back =
        schedule_of(topology, lower(topology, collective, *outcome.schedule));
    CHECK(verify(topology, back.collective, back.schedule).correct());
    const Time planned = run_native(topology, collective, *outcome.schedule, {}).completion;
    const Time program = run_native(topology, back.collective, back.schedule, {}).completion;
    CHECK(static_cast<double>(program.ps) < 1.01 * static_cast<double>(planned.ps));
    CHECK(static_cast<double>(planned.ps) < 1.01 * static_cast<double>(outcome.planned->ps));
  }
}

} // namespace lowering_test
