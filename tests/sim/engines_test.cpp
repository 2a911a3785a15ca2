// Hand-derived times. a = latency 0.5 us, D = serialization of 1 MB at 50 GB/s = 20 us.
// Both engines must give them, to the picosecond.

#include "algorithms/list.hpp"
#include "sim/engines/agreement.hpp"
#include "sim/engines/engine.hpp"
#include "sim/engines/fifo_core.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "tests/sim/random_case.hpp"
#include "tests/sim/small_cases.hpp"

#include <algorithm>
#include <vector>

namespace engines_test {

using namespace tutti;
using samples::link;
using testing::chunks, testing::line, testing::steps, testing::Step;

namespace {

constexpr std::int64_t a = 500'000, D = 20'000'000; // ps

/// The completion time, on which both engines must agree.
std::int64_t completion(const Topology& topology, const Collective& collective,
                        const Schedule& schedule, const TimeModel& model = {}) {
  const Report native = run_both(topology, collective, schedule, model);
  CHECK(disagreement(*native.agreement) == "");
  return native.completion.ps;
}

std::int64_t fluid_completion(const Topology& topology, const Collective& collective,
                              const Schedule& schedule) {
  TimeModel fluid;
  fluid.discipline = Discipline::fluid;
  return run_simgrid(topology, collective, schedule, fluid).completion.ps;
}

} // namespace

TEST_CASE("broadcast along a line, hop by hop") {
  const Topology topology = line(3);
  const Collective collective = chunks({{{0}, {1, 2}}});
  // Each hop: D + a, one after the other.
  CHECK(completion(topology, collective, steps(topology, {{0, {0}}, {0, {1}}})) == 2 * a + 2 * D);
}

TEST_CASE("one transfer over two hops, by what the middle can do") {
  const Topology topology = line(3);
  const Collective collective = chunks({{{0}, {2}}});
  const Schedule schedule = steps(topology, {{0, {0, 1}}});
  TimeModel model;
  // Behind an NPU: store-and-forward, (D + a) twice.
  CHECK(completion(topology, collective, schedule, model) == 2 * a + 2 * D);
  // Cut-through: the head is a behind, the tail follows: a + a + D.
  model.forwarding = Forwarding::cut_through;
  CHECK(completion(topology, collective, schedule, model) == 2 * a + D);
}

TEST_CASE("cut-through into a faster link ends no earlier than the data streams in") {
  TopologyParts parts = samples::npus("uneven line", 3);
  parts.add_link(link(0, 1));
  Link fast = link(1, 2);
  fast.bandwidth = {2 * samples::bandwidth.bytes_per_second};
  parts.add_link(fast);
  const Topology topology(std::move(parts));
  TimeModel model;
  model.forwarding = Forwarding::cut_through;
  // Hop 2 starts at a and would end at a + D/2; its data is complete at D + a only; + a to arrive.
  CHECK(completion(topology, chunks({{{0}, {2}}}), steps(topology, {{0, {0, 1}}}), model) ==
        2 * a + D);
}

TEST_CASE("reduce-scatter on a ring of three") {
  const Topology topology = samples::ring(3, true);
  const Collective collective =
      chunks({{{0, 1, 2}, {0}}, {{0, 1, 2}, {1}}, {{0, 1, 2}, {2}}}, true);
  // Two steps of D + a; all three links work all the time.
  std::vector<Step> list;
  for (std::uint32_t s = 0; s < 2; ++s)
    for (std::uint32_t c = 0; c < 3; ++c) list.push_back({c, {(c + 1 + s) % 3}, Op::reduce});
  CHECK(completion(topology, collective, steps(topology, list)) == 2 * a + 2 * D);
}

TEST_CASE("direct all-gather of three NPUs on a switch, in rotating order") {
  TopologyParts parts = samples::npus("switch", 3);
  parts.add_node({"switch0", NodeKind::switching, {false, false, false}, {}});
  for (std::uint32_t i = 0; i < 3; ++i) parts.add_link(link(i, 3));
  for (std::uint32_t i = 0; i < 3; ++i) parts.add_link(link(3, i));
  const Topology topology(std::move(parts));
  const Collective collective = chunks({{{0}, {0, 1, 2}}, {{1}, {0, 1, 2}}, {{2}, {0, 1, 2}}});
  std::vector<Step> list;
  for (std::uint32_t s = 1; s < 3; ++s)
    for (std::uint32_t c = 0; c < 3; ++c) list.push_back({c, {c, 3 + (c + s) % 3}});
  // Each NPU sends two chunks back to back (2D), and the last one cuts through (2a).
  CHECK(completion(topology, collective, steps(topology, list)) == 2 * a + 2 * D);
}

TEST_CASE("two NPUs exchange partial sums") {
  const Topology topology = samples::ring(2);
  const Collective collective = chunks({{{0, 1}, {0, 1}}}, true);
  CHECK(completion(topology, collective,
                   steps(topology, {{0, {0}, Op::reduce}, {0, {1}, Op::reduce, true}})) == a + D);
}

TEST_CASE("a shared group halves two links") {
  TopologyParts parts = samples::npus("bus", 4);
  parts.add_link(link(0, 1));
  parts.add_link(link(2, 3));
  parts.groups.push_back({"bus", {LinkId{0}, LinkId{1}}, samples::bandwidth});
  const Topology topology(std::move(parts));
  const Collective collective = chunks({{{0}, {1}}, {{2}, {3}}});
  const Schedule schedule = steps(topology, {{0, {0}}, {1, {1}}});
  // FIFO: one after the other. Fluid: both at half the rate. 2D either way.
  CHECK(completion(topology, collective, schedule) == a + 2 * D);
  CHECK(fluid_completion(topology, collective, schedule) == a + 2 * D);
}

TEST_CASE("multicast by a switch that can copy") {
  TopologyParts parts = samples::npus("multicast", 3);
  parts.add_node({"switch0", NodeKind::switching, {false, true, false}, {}});
  parts.add_link(link(0, 3));
  parts.add_link(link(3, 1));
  parts.add_link(link(3, 2));
  const Topology topology(std::move(parts));
  const Collective collective = chunks({{{0}, {1, 2}}});
  const Schedule schedule = steps(topology, {{0, {0}}, {0, {1}}, {0, {2}}});
  // Both copies start when the head arrives (a) and end a after the data (a + D).
  CHECK(completion(topology, collective, schedule) == 2 * a + D);
  CHECK(fluid_completion(topology, collective, schedule) == 2 * a + D);
}

TEST_CASE("the time model decides how long a link is busy") {
  const Topology topology = line(2);
  const Collective collective = chunks({{{0}, {1}}, {{0}, {1}}});
  const Schedule schedule = steps(topology, {{0, {0}}, {1, {0}}});
  TimeModel model;
  CHECK(completion(topology, collective, schedule, model) == a + 2 * D);
  model.link_busy = LinkBusy::latency_and_serialization;
  CHECK(completion(topology, collective, schedule, model) == 2 * (a + D));
}

TEST_CASE("reductions take time where a node has a rate") {
  TopologyParts parts = samples::npus("fan-in", 3);
  parts.add_link(link(1, 0));
  parts.add_link(link(2, 0));
  parts.nodes[0].reduce_rate = samples::bandwidth; // a reduction takes D
  const Topology topology(std::move(parts));
  const Collective collective = chunks({{{0, 1, 2}, {0}}}, true);
  const Schedule schedule = steps(topology, {{0, {0}, Op::reduce}, {0, {1}, Op::reduce}});
  // Both arrive at a + D; the node's unit takes them one after the other.
  CHECK(completion(topology, collective, schedule) == a + 3 * D);
  CHECK(fluid_completion(topology, collective, schedule) == a + 3 * D);
}

TEST_CASE("an NPU's rate of reduction may come from the time model") {
  const Topology topology = line(2);
  TimeModel model;
  model.reduce_rate = samples::bandwidth;
  CHECK(completion(topology, chunks({{{0, 1}, {1}}}, true), steps(topology, {{0, {0}, Op::reduce}}),
                   model) == a + 2 * D);
}

TEST_CASE("queues are served in order of entry, ties by list position") {
  // 0 > 2 and 1 > 2 > 3: chunk 1 reaches link 2 > 3 when it arrives at 2, chunk 0 at the same time.
  TopologyParts parts = samples::npus("merge", 4);
  parts.add_link(link(0, 2));
  parts.add_link(link(1, 2));
  parts.add_link(link(2, 3));
  const Topology topology(std::move(parts));
  const Collective collective = chunks({{{0}, {3}}, {{1}, {3}}});
  const Schedule schedule = steps(topology, {{1, {1, 2}}, {0, {0, 2}}});
  for (const EngineRow& engine : engines()) {
    INFO(engine.name);
    const Report report =
        engine.run(topology, collective, schedule, {}, {.record_deliveries = true});
    CHECK(report.deliveries[0] == Time{2 * a + 2 * D}); // listed first
    CHECK(report.deliveries[1] == Time{2 * a + 3 * D});
  }
}

TEST_CASE("connections share a link without blocking each other") {
  // Connection A (0 > 1 > 2) waits for its second chunk, which comes to 0 late; connection B (only
  // 0 > 1) is listed after it and goes ahead.
  TopologyParts parts = samples::npus("shared link", 4);
  parts.add_link(link(0, 1));
  parts.add_link(link(1, 2));
  parts.add_link(link(3, 0));
  const Topology topology(std::move(parts));
  const Collective collective = chunks({{{3}, {2}}, {{0}, {1}}});
  const Schedule schedule = steps(topology, {{0, {2}}, {0, {0, 1}}, {1, {0}}});
  const Report report = run_native(topology, collective, schedule, {}, {.record_deliveries = true});
  CHECK(report.deliveries[2] == Time{a + D});
  CHECK(report.completion == Time{3 * a + 3 * D});
}

TEST_CASE("an arrival waits for the receiver's earlier sends of the chunk to leave") {
  // NPU 1 sends its partial sum to 2 over a slow link; what comes from 0 meanwhile must not mix in.
  TopologyParts parts = samples::npus("partial sums", 3);
  parts.add_link(link(0, 1));
  Link slow = link(1, 2);
  slow.bandwidth = {samples::bandwidth.bytes_per_second / 4};
  parts.add_link(slow);
  const Topology topology(std::move(parts));
  const Collective collective = chunks({{{0, 1}, {}}}, true);
  const Schedule schedule = steps(topology, {{0, {1}}, {0, {0}, Op::reduce}});
  const Report report = run_native(topology, collective, schedule, {}, {.record_deliveries = true});
  CHECK(report.deliveries[0] == Time{a + 4 * D});
  CHECK(report.deliveries[1] == Time{4 * D}); // in at a + D, counts when the send has left
}

TEST_CASE("fluid: a path that crosses a shared group twice takes its share twice") {
  TopologyParts parts = samples::npus("bus", 3);
  parts.add_link(link(0, 1));
  parts.add_link(link(1, 2));
  parts.groups.push_back({"bus", {LinkId{0}, LinkId{1}}, samples::bandwidth});
  const Topology topology(std::move(parts));
  // Every byte uses the bus on both links: half the rate.
  CHECK(fluid_completion(topology, chunks({{{0}, {2}}}), steps(topology, {{0, {0, 1}}})) ==
        2 * a + 2 * D);
}

TEST_CASE("fluid: max-min fair shares") {
  // Link 0 carries x and y, link 1 carries x and z at twice the rate. x and y get half of link 0;
  // z gets what x leaves of link 1, three quarters. z ends at D/2 / (3/4) = 2D/3, x and y at 2D.
  TopologyParts parts = samples::npus("shares", 3);
  parts.add_link(link(0, 1));
  Link twice = link(1, 2);
  twice.bandwidth = {2 * samples::bandwidth.bytes_per_second};
  parts.add_link(twice);
  const Topology topology(std::move(parts));
  const Collective collective = chunks({{{0}, {2}}, {{0}, {1}}, {{1}, {2}}});
  const Schedule schedule = steps(topology, {{0, {0, 1}}, {1, {0}}, {2, {1}}});
  TimeModel fluid;
  fluid.discipline = Discipline::fluid;
  const Report report =
      run_simgrid(topology, collective, schedule, fluid, {.record_deliveries = true});
  CHECK(std::abs(report.deliveries[0].ps - (2 * a + 2 * D)) <= 1);
  CHECK(std::abs(report.deliveries[1].ps - (a + 2 * D)) <= 1);
  CHECK(std::abs(report.deliveries[2].ps - (a + 2 * D / 3)) <= 1);
}

TEST_CASE("the paper's 64-ring: Direct over Ring") {
  // TACOS sec. III.B: 16.71. The longest queue holds 528 shards against 63 half shards, if all that
  // goes half around takes one direction; by the recurrence (528 S + ...) / (31.5 S + 63 a).
  const Topology topology = samples::ring(64);
  CollectiveSpec spec;
  spec.kind = CollectiveKind::all_gather;
  const Collective whole = make_collective(topology, spec);
  spec.chunks_per_shard = 2;
  const Collective halves = make_collective(topology, spec);
  SynthesisOptions one_way;
  one_way.routing = Routing::single;
  const double direct_time =
      run_native(topology, whole, *direct(topology, whole, one_way).schedule, {})
          .completion.seconds();
  const double ring_time =
      run_native(topology, halves, *ring(topology, halves, {}).schedule, {}).completion.seconds();
  CHECK(direct_time / ring_time == Approx(16.71).epsilon(0.0005));
}

TEST_CASE("a report says what every link and chunk did") {
  const Topology topology = line(3);
  const Collective collective = chunks({{{0}, {1, 2}}, {{0}, {1}}});
  const Schedule schedule = steps(topology, {{0, {0}}, {1, {0}}, {0, {1}}});
  for (const EngineRow& engine : engines()) {
    INFO(engine.name);
    const Report report = engine.run(topology, collective, schedule, {},
                                     {.record_deliveries = true, .record_hops = true});
    CHECK(report.engine == (engine.name == "both" ? "native+simgrid" : engine.name));
    CHECK(report.link_transfers == 3);
    CHECK(report.links[0].bytes == Bytes{2'000'000});
    CHECK(report.links[0].busy == Time{2 * D});
    CHECK(report.links[1].transfers == 1);
    CHECK(report.chunk_done == std::vector<Time>{{2 * a + 2 * D}, {a + 2 * D}});
    CHECK(report.completion == Time{2 * a + 2 * D});
    REQUIRE(report.hops.size() == 3);
    CHECK(report.hops[1].start == Time{D}); // chunk 1 follows chunk 0 on link 0
    CHECK(report.hops[1].transfer == 1);
    CHECK(report.hops[2].start == Time{a + D});
    CHECK(report.hops[2].end == Time{a + 2 * D});
  }
}

TEST_CASE("an empty schedule takes no time") {
  const Topology topology = line(2);
  CHECK(completion(topology, chunks({{{0}, {0}}}), Schedule(topology.link_count())) == 0);
}

TEST_CASE("a compact schedule takes as long as its list") {
  for (const Topology& topology : {samples::ring(7), samples::uneven_mesh(3, 4), samples::full(5)})
    for (const LinkBusy busy : {LinkBusy::serialization, LinkBusy::latency_and_serialization}) {
      INFO(topology.name());
      CollectiveSpec spec;
      spec.kind = CollectiveKind::all_gather;
      spec.chunks_per_shard = 3;
      spec.size = Bytes{1'000'003};
      const Collective collective = make_collective(topology, spec);
      const Schedule list = *tacos(topology, collective, {}).schedule;
      TimeModel model;
      model.link_busy = busy;
      const auto compact = compacted(topology, collective, list);
      REQUIRE(compact);
      RunOptions by_events;
      by_events.may_halt = true;
      const Report from_list = run_native(topology, collective, list, model, by_events);
      const Report from_compact = run_native_compact(topology, collective, *compact, model);
      CHECK(from_compact.completion == from_list.completion);
      CHECK(from_compact.chunk_done == from_list.chunk_done);
      CHECK(from_compact.link_transfers == from_list.link_transfers);
      for (std::size_t l = 0; l < from_list.links.size(); ++l) {
        CHECK(from_compact.links[l].bytes == from_list.links[l].bytes);
        CHECK(from_compact.links[l].busy == from_list.links[l].busy);
      }
    }
}

TEST_CASE("a compact schedule where links share a bus is expanded first") {
  TopologyParts parts = samples::npus("bus", 4);
  parts.add_link(link(0, 1));
  parts.add_link(link(2, 3));
  parts.groups.push_back({"bus", {LinkId{0}, LinkId{1}}, samples::bandwidth});
  const Topology topology(std::move(parts));
  const CompactSchedule compact = samples::compact({{0}, {1}});
  CHECK(run_native_compact(topology, chunks({{{0}, {1}}, {{2}, {3}}}), compact, {}).completion ==
        Time{a + 2 * D});
}

TEST_CASE("a compact schedule that can't go on says where") {
  const CompactSchedule compact = samples::compact({{}, {0}}); // npu1 never gets chunk 0
  CHECK(message_of([&] {
          (void)run_native_compact(line(3), chunks({{{0}, {2}}}), compact, {});
        }) == "chunk 0 never reaches npu1, which has to send it to npu2");
}

TEST_CASE("a replay is the same every time") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const testing::RandomCase c = testing::random_case(seed, false);
    TimeModel fluid;
    fluid.discipline = Discipline::fluid;
    const RunOptions options{.record_deliveries = true};
    CHECK(run_simgrid(c.topology, c.collective, c.schedule, fluid, options).deliveries ==
          run_simgrid(c.topology, c.collective, c.schedule, fluid, options).deliveries);
  }
}

TEST_CASE("fluid and fifo move the same bytes") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const testing::RandomCase c = testing::random_case(seed, false);
    TimeModel fluid;
    fluid.discipline = Discipline::fluid;
    const Report shared = run_simgrid(c.topology, c.collective, c.schedule, fluid);
    const Report queued = run_native(c.topology, c.collective, c.schedule, {});
    for (std::size_t l = 0; l < queued.links.size(); ++l)
      CHECK(shared.links[l].bytes == queued.links[l].bytes);
  }
}

TEST_CASE("what engines refuse") {
  const Topology topology = line(2);
  const Collective collective = chunks({{{0}, {1}}});
  const Schedule schedule = steps(topology, {{0, {0}}});
  TimeModel fluid;
  fluid.discipline = Discipline::fluid;
  CHECK(message_of([&] { (void)run_native(topology, collective, schedule, fluid); }) ==
        "the native engine knows only fifo; fluid needs simgrid");
  CHECK(message_of([] { (void)find_engine("natve"); }) ==
        "unknown engine \"natve\" (known: simgrid, native, both; did you mean \"native\"?)");

  Collective huge = collective;
  huge.chunks[0].size = Bytes{INT64_MAX / 2};
  TopologyParts slow = samples::npus("slow", 2);
  slow.add_link({NodeId{0}, NodeId{1}, {}, {1}});
  const Topology modem(std::move(slow));
  for (const EngineRow& engine : engines())
    CHECK_THAT(message_of([&] { (void)engine.run(modem, huge, schedule, {}, {}); }),
               ContainsSubstring("at 1B/s take longer than 53 days"));
}

TEST_CASE("transfers that never happen are named") {
  const Topology topology = line(3);
  const Collective collective = chunks({{{0}, {1, 2}}});
  const Schedule schedule = steps(topology, {{0, {0}}, {0, {1}}});
  EventQueue events;
  FifoCore core(topology, collective, schedule, {}, {}, events);
  core.begin();
  core.serve(0);
  while (events.next_time() != EventQueue::never) {
    const Event event = events.pop();
    if (event.kind == static_cast<std::uint32_t>(EventKind::arrive)) continue; // it is lost
    core.handle(event);
    core.serve(event.at);
  }
  CHECK(message_of([&] { (void)core.finish(); }) ==
        "2 of 2 transfers were never delivered: transfer 0 (chunk 0, npu0 > npu1) is under way; "
        "transfer 1 (chunk 0, npu1 > npu2) waits for data");
}

} // namespace engines_test
