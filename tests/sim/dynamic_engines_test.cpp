// Hand-derived times on networks that change. a = latency 0.5 us, D = serialization of 1 MB at
// 50 GB/s = 20 us. Both engines must give them, to the picosecond.

#include "sim/engines/agreement.hpp"
#include "sim/engines/engine.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "tests/sim/small_cases.hpp"

#include <algorithm>
#include <vector>

namespace dynamic_engines_test {

using namespace tutti;
using samples::link;
using testing::chunks, testing::line, testing::steps;
using Kind = NetworkEvent::Kind;
using Why = StuckTransfer::Why;

namespace {

constexpr std::int64_t us = 1'000'000, a = us / 2, D = 20 * us; // ps

NetworkEvent on_link(std::int64_t at, Kind kind, std::uint32_t link, std::uint32_t percent = 100,
                     std::int64_t latency = 0) {
  return {Time{at}, kind, LinkId{link}, {}, {percent * 10'000}, Time{latency}};
}
NetworkEvent on_npu(std::int64_t at, Kind kind, std::uint32_t npu, std::uint32_t percent = 100) {
  return {Time{at}, kind, {}, NodeId{npu}, {percent * 10'000}, {}};
}

/// What both engines say, who must agree.
Report replayed(const Topology& topology, const Collective& collective, const Schedule& schedule,
                RunOptions options, const TimeModel& model = {}) {
  options.record_deliveries = true;
  Report native = run_both(topology, collective, schedule, model, options);
  CHECK(disagreement(*native.agreement) == "");
  return native;
}

/// One chunk over one link, by these events.
std::int64_t one_crossing(const std::vector<NetworkEvent>& events) {
  const Topology topology = line(2);
  RunOptions options;
  const auto sorted = sorted_events(topology, events);
  options.events = sorted;
  return replayed(topology, chunks({{{0}, {1}}}), steps(topology, {{0, {0}}}), options)
      .completion.ps;
}

/// 0 > switch > 1, links 0 and 1.
Topology over_a_switch() {
  TopologyParts parts = samples::npus("over a switch", 2);
  parts.add_node({"switch0", NodeKind::switching, {false, false, false}, {}});
  parts.add_link(link(0, 2));
  parts.add_link(link(2, 1));
  return Topology(std::move(parts));
}

/// 0 > 1 directly (link 0) and by 2 (links 1, 2).
Topology two_ways() {
  TopologyParts parts = samples::npus("two ways", 3);
  parts.add_link(link(0, 1));
  parts.add_link(link(0, 2));
  parts.add_link(link(2, 1));
  return Topology(std::move(parts));
}

} // namespace

TEST_CASE("a link that is down keeps what it has carried") {
  CHECK(one_crossing({on_link(5 * us, Kind::link_down, 0), on_link(12 * us, Kind::link_up, 0)}) ==
        a + D + 7 * us);
}

TEST_CASE("a slower link carries the rest at its new rate") {
  CHECK(one_crossing({on_link(10 * us, Kind::link_rate, 0, 50)}) == a + 30 * us);
  // 10 us at half its rate in between cost 5 us.
  CHECK(one_crossing({on_link(5 * us, Kind::link_rate, 0, 50),
                      on_link(15 * us, Kind::link_rate, 0, 100)}) == a + 25 * us);
  // A third: the second half takes 3 * 10 us, by 1e6 / 3 rounded down to millionths of the rate.
  const std::vector<NetworkEvent> third{
      {Time{10 * us}, Kind::link_rate, LinkId{0}, {}, {333'333}, {}}};
  // 500,000 bytes at floor(50e9 * 0.333333) = 16,666,650,000 bytes/s are 30.00003000003... us.
  CHECK(one_crossing(third) == a + 10 * us + 30'000'031);
}

TEST_CASE("a straggler sends slower, over all its links") {
  CHECK(one_crossing({on_npu(0, Kind::npu_rate, 0, 25)}) == a + 4 * D);
  CHECK(one_crossing({on_npu(0, Kind::npu_rate, 1, 25)}) == a + D); // it only receives
  CHECK(one_crossing({on_npu(0, Kind::npu_rate, 0, 50), on_link(0, Kind::link_rate, 0, 50)}) ==
        a + 4 * D);
}

TEST_CASE("a new latency is that of crossings that start from then on") {
  CHECK(one_crossing({on_link(5 * us, Kind::link_latency, 0, 100, 2 * us)}) == a + D);
  CHECK(one_crossing({on_link(0, Kind::link_latency, 0, 100, 2 * us)}) == 2 * us + D);
}

TEST_CASE("what happens at an instant comes first, but undoes nothing") {
  // The last byte has left at D, whatever happens then.
  CHECK(one_crossing({on_link(D, Kind::link_down, 0)}) == a + D);
  // Down and up again at one instant: as if nothing had happened.
  CHECK(one_crossing({on_link(us, Kind::link_down, 0), on_link(us, Kind::link_up, 0)}) == a + D);
  // Nothing starts on a link that goes down at this very instant.
  CHECK(one_crossing({on_link(0, Kind::link_down, 0), on_link(3 * us, Kind::link_up, 0)}) ==
        a + D + 3 * us);
}

TEST_CASE("in cut-through the tail follows what holds up the head's way") {
  const Topology topology = over_a_switch();
  const Collective collective = chunks({{{0}, {1}}});
  const Schedule schedule = steps(topology, {{0, {0, 1}}});
  for (const std::uint32_t paused : {0U, 1U}) {
    // Whichever hop stands still for 7 us: the tail is as much later.
    const std::vector<NetworkEvent> events{on_link(5 * us, Kind::link_down, paused),
                                           on_link(12 * us, Kind::link_up, paused)};
    RunOptions options;
    options.events = events;
    const Report report = replayed(topology, collective, schedule, options);
    CHECK(report.completion.ps == 2 * a + D + 7 * us);
    // The second link is free when it has sent what it can: only the paused one is longer busy.
    CHECK(report.links[paused].busy == Time{D + 7 * us});
    CHECK(report.links[1 - paused].busy == Time{D});
  }
}

TEST_CASE("what a switch multicasts ends after what it follows") {
  TopologyParts parts = samples::npus("multicast", 3);
  parts.add_node({"switch0", NodeKind::switching, {false, true, false}, {}});
  parts.add_link(link(0, 3));
  parts.add_link(link(3, 1));
  parts.add_link(link(3, 2));
  const Topology topology(std::move(parts));
  const Collective collective = chunks({{{0}, {1, 2}}});
  const Schedule schedule = steps(topology, {{0, {0}}, {0, {1}}, {0, {2}}});
  const std::vector<NetworkEvent> events{
      on_link(5 * us, Kind::link_down, 0), on_link(12 * us, Kind::link_up, 0),
      on_link(6 * us, Kind::link_down, 2), on_link(9 * us, Kind::link_up, 2)};
  const auto sorted = sorted_events(topology, events);
  RunOptions options;
  options.events = sorted;
  // Both copies end when the tail is there, D + a + 7 us; the 3 us of link 2 are lost in that.
  CHECK(replayed(topology, collective, schedule, options).deliveries ==
        std::vector<Time>{{a + D + 7 * us}, {2 * a + D + 7 * us}, {2 * a + D + 7 * us}});
  // Frozen at 1 us: what the switch passes on still goes.
  options.freeze = Time{us / 10};
  CHECK(replayed(topology, collective, schedule, options).completion.ps == 2 * a + D + 7 * us);
}

TEST_CASE("with latency+serialization a link is busy until its data has arrived") {
  const Topology topology = line(2);
  TimeModel model;
  model.link_busy = LinkBusy::latency_and_serialization;
  const std::vector<NetworkEvent> events{on_link(5 * us, Kind::link_down, 0),
                                         on_link(12 * us, Kind::link_up, 0)};
  RunOptions options;
  options.events = events;
  const Report report = replayed(topology, chunks({{{0}, {1}}, {{0}, {1}}}),
                                 steps(topology, {{0, {0}}, {1, {0}}}), options, model);
  CHECK(report.completion.ps == 2 * (a + D) + 7 * us);
  CHECK(report.links[0].busy.ps == 2 * (a + D) + 7 * us);
}

TEST_CASE("a group is free after its own time, whatever happens to the link") {
  TopologyParts parts = samples::npus("bus", 4);
  parts.add_link(link(0, 1));
  parts.add_link(link(2, 3));
  parts.groups.push_back({"bus", {LinkId{0}, LinkId{1}}, samples::bandwidth});
  const Topology topology(std::move(parts));
  const std::vector<NetworkEvent> events{on_link(5 * us, Kind::link_down, 0),
                                         on_link(30 * us, Kind::link_up, 0)};
  RunOptions options;
  options.events = events;
  CHECK(replayed(topology, chunks({{{0}, {1}}, {{2}, {3}}}), steps(topology, {{0, {0}}, {1, {1}}}),
                 options)
            .deliveries == std::vector<Time>{{a + 45 * us}, {a + 2 * D}});
}

TEST_CASE("what is on the way to an NPU that goes down is lost") {
  const Topology topology = line(2);
  const auto at = [&](std::int64_t when) {
    const std::vector<NetworkEvent> events{on_npu(when, Kind::npu_down, 1)};
    RunOptions options;
    options.events = events;
    options.may_halt = true;
    return replayed(topology, chunks({{{0}, {1}}}), steps(topology, {{0, {0}}}), options);
  };
  CHECK(at(D + a + 1).stuck.empty());
  REQUIRE(at(D + a).stuck.size() == 1); // it comes first at this instant
  CHECK(at(D + a).stuck[0].why == Why::lost);
  CHECK(at(D).stuck[0].why == Why::lost);
  CHECK(at(D).quiet == Time{D + a});
  const Report halfway = at(D / 2);
  CHECK(halfway.stuck[0].why == Why::link_down);
  CHECK(halfway.stuck[0].link == LinkId{0});
  CHECK(halfway.links[0].bytes == Bytes{500'000});
  CHECK(halfway.links[0].busy == Time{D / 2});
  CHECK(halfway.quiet == Time{});
}

TEST_CASE("what has left an NPU that goes down arrives; what is left of it waits") {
  const Topology topology = line(3);
  const std::vector<NetworkEvent> events{on_npu(D + a / 2, Kind::npu_down, 0)};
  RunOptions options;
  options.events = events;
  options.may_halt = true;
  const Report report = replayed(topology, chunks({{{0}, {2}}, {{0}, {1}}}),
                                 steps(topology, {{0, {0}}, {1, {0}}, {0, {1}}}), options);
  CHECK(report.deliveries[0] == Time{a + D});
  CHECK(report.deliveries[2] == Time{2 * a + 2 * D});
  REQUIRE(report.stuck.size() == 1);
  CHECK(report.stuck[0].transfer == 1);
  CHECK(report.quiet == Time{2 * a + 2 * D});
}

TEST_CASE("the reduction unit of an NPU that goes down stops") {
  TopologyParts parts = samples::npus("fan-in", 3);
  parts.add_link(link(1, 0));
  parts.add_link(link(2, 0));
  parts.nodes[0].reduce_rate = samples::bandwidth; // a reduction takes D
  const Topology topology(std::move(parts));
  const std::vector<NetworkEvent> events{on_npu(a + 2 * D + us, Kind::npu_down, 0)};
  RunOptions options;
  options.events = events;
  options.may_halt = true;
  const Report report =
      replayed(topology, chunks({{{0, 1, 2}, {0}}}, true),
               steps(topology, {{0, {0}, Op::reduce}, {0, {1}, Op::reduce}}), options);
  CHECK(report.deliveries[0] == Time{a + 2 * D});
  REQUIRE(report.stuck.size() == 1);
  CHECK(report.stuck[0].transfer == 1);
  CHECK(report.stuck[0].why == Why::lost);
}

TEST_CASE("a higher priority goes first, without preemption") {
  const Topology topology = line(2);
  const Collective one = chunks({{{0}, {1}}, {{0}, {1}}}), other = chunks({{{0}, {1}}});
  const std::vector<Collective> both{one, other};
  const Collective collective = merge(both);
  const Schedule schedule = steps(topology, {{0, {0}}, {1, {0}}, {2, {0}}});
  std::vector<JobTiming> jobs{{{}, 0}, {Time{5 * us}, 3}};
  RunOptions options;
  options.jobs = jobs;
  CHECK(replayed(topology, collective, schedule, options).deliveries ==
        std::vector<Time>{{a + D}, {a + 3 * D}, {a + 2 * D}});
  jobs[0].priority = 3; // as high: in order of entry
  CHECK(replayed(topology, collective, schedule, options).deliveries ==
        std::vector<Time>{{a + D}, {a + 2 * D}, {a + 3 * D}});
  jobs[0].start = Time{10 * us}; // parts begin one by one
  CHECK(replayed(topology, collective, schedule, options).deliveries ==
        std::vector<Time>{{5 * us + a + 2 * D}, {5 * us + a + 3 * D}, {5 * us + a + D}});
}

TEST_CASE("a part doesn't wait for another one on its path") {
  // Part 0 sends on what comes to npu1 at a + D; part 1, listed later, has its chunk there.
  const Topology topology = line(3);
  const std::vector<Collective> both{chunks({{{0}, {2}}}), chunks({{{1}, {2}}})};
  const std::vector<JobTiming> jobs(2);
  RunOptions options;
  options.jobs = jobs;
  CHECK(replayed(topology, merge(both), steps(topology, {{0, {0}}, {0, {1}}, {1, {1}}}), options)
            .deliveries == std::vector<Time>{{a + D}, {2 * a + 2 * D}, {a + D}});
}

TEST_CASE("priorities count at shared groups and reduction units") {
  TopologyParts parts = samples::npus("bus", 4);
  for (const std::uint32_t npu : {1U, 2U, 3U}) parts.add_link(link(npu, 0));
  SECTION("a bus") {
    parts.groups.push_back({"bus", {LinkId{0}, LinkId{1}, LinkId{2}}, samples::bandwidth});
    const Topology topology(std::move(parts));
    const std::vector<Collective> parts_of{chunks({{{1}, {0}}}), chunks({{{2}, {0}}}),
                                           chunks({{{3}, {0}}})};
    const std::vector<JobTiming> jobs{{{}, 0}, {{}, 1}, {{}, 7}};
    RunOptions options;
    options.jobs = jobs;
    CHECK(replayed(topology, merge(parts_of), steps(topology, {{0, {0}}, {1, {1}}, {2, {2}}}),
                   options)
              .deliveries == std::vector<Time>{{a + 3 * D}, {a + 2 * D}, {a + D}});
  }
  SECTION("a reduction unit") {
    parts.nodes[0].reduce_rate = samples::bandwidth;
    const Topology topology(std::move(parts));
    const std::vector<Collective> parts_of{chunks({{{0, 1}, {0}}}, true),
                                           chunks({{{0, 2}, {0}}}, true),
                                           chunks({{{0, 3}, {0}}}, true)};
    // The first to come is reduced from 6 us + a + D on; the other two come meanwhile.
    const std::vector<JobTiming> jobs{{Time{7 * us}, 0}, {Time{6 * us}, 1}, {Time{9 * us}, 7}};
    RunOptions options;
    options.jobs = jobs;
    CHECK(replayed(
              topology, merge(parts_of),
              steps(topology, {{0, {0}, Op::reduce}, {1, {1}, Op::reduce}, {2, {2}, Op::reduce}}),
              options)
              .deliveries ==
          std::vector<Time>{{6 * us + a + 4 * D}, {6 * us + a + 2 * D}, {6 * us + a + 3 * D}});
  }
}

TEST_CASE("a frozen run ends what has set out") {
  const Topology topology = line(3);
  const Collective collective = chunks({{{0}, {2}}, {{0}, {1}}, {{0}, {2}}});
  const Schedule schedule = steps(topology, {{0, {0, 1}}, {1, {0}}, {2, {0}}, {2, {1}}});
  RunOptions options;
  options.may_halt = true;
  options.freeze = Time{D - 1};
  const Report report = replayed(topology, collective, schedule, options);
  CHECK(report.deliveries[0] == Time{2 * a + 2 * D}); // its second hop too
  CHECK(report.quiet == Time{2 * a + 2 * D});
  REQUIRE(report.stuck.size() == 3);
  CHECK(report.stuck[0].why == Why::frozen);
  CHECK(report.stuck[1].why == Why::frozen);
  CHECK(report.stuck[2].why == Why::waiting); // for data
  options.freeze = Time{D};                   // the second chunk would start at this very instant
  CHECK(replayed(topology, collective, schedule, options).stuck.size() == 3);
  options.freeze = Time{D + 1};
  CHECK(replayed(topology, collective, schedule, options).stuck.size() == 2);
}

TEST_CASE("what waits for one that joins late is left alone in a frozen run, delivered in others") {
  const Topology topology = line(3);
  const Collective collective = chunks({{{0}, {2}}});
  const Schedule schedule = steps(topology, {{0, {0}}, {0, {1}}});
  const std::vector<Time> starts{Time{}, Time{50 * us}, Time{}};
  RunOptions options;
  options.starts = starts;
  options.may_halt = true;
  const Report all = replayed(topology, collective, schedule, options);
  CHECK(all.deliveries == std::vector<Time>{{50 * us}, {50 * us + a + D}});
  const Report first = replayed(topology, collective, steps(topology, {{0, {0}}}), options);
  CHECK(first.quiet == Time{50 * us});
  CHECK(first.completion == Time{50 * us});
  // What becomes of it later isn't known when the run is frozen, ...
  for (const std::int64_t death : {40 * us, 60 * us}) {
    const std::vector<NetworkEvent> events{on_npu(death, Kind::npu_down, 1)};
    options.events = events;
    options.freeze = Time{30 * us};
    const Report frozen = replayed(topology, collective, schedule, options);
    CHECK(frozen.quiet == Time{a + D});
    REQUIRE(frozen.stuck.size() == 2);
    CHECK(frozen.stuck[0].why == Why::held_back);
    options.freeze.reset();
    const Report not_frozen = replayed(topology, collective, schedule, options);
    CHECK(not_frozen.stuck[0].why == (death < 50 * us ? Why::lost : Why::link_down));
  }
  // ... and a run that begins later goes on waiting.
  options.events = {};
  options.begin = Time{30 * us};
  CHECK(replayed(topology, collective, schedule, options).deliveries[0] == Time{30 * us + a + D});
  options.begin = Time{20 * us};
  CHECK(replayed(topology, collective, schedule, options).deliveries[0] == Time{50 * us});
}

TEST_CASE("a replaced route takes back what stands before a link that is down") {
  const Topology topology = two_ways();
  const Collective collective = chunks({{{0}, {1}}, {{0}, {1}}});
  Schedule schedule = steps(topology, {{0, {0}}, {1, {0}}});
  const std::vector<LinkId> around{LinkId{1}, LinkId{2}};
  const PathId other = schedule.paths().intern(around);
  const std::vector<NetworkEvent> events{on_link(5 * us, Kind::link_down, 0)};
  std::vector<RouteChange> routes{{Time{8 * us}, {{PathId{0}, other}}}};
  RunOptions options;
  options.events = events;
  options.route_changes = routes;
  const Report report = replayed(topology, collective, schedule, options);
  // The first chunk has come a quarter of the way and starts over at 8 us; the second follows it.
  CHECK(report.deliveries == std::vector<Time>{{8 * us + 2 * a + 2 * D}, {8 * us + 2 * a + 3 * D}});
  CHECK(report.links[0].bytes == Bytes{250'000});
  CHECK(report.links[0].busy == Time{8 * us});
  CHECK(report.links[1].bytes == Bytes{2'000'000});

  routes[0].at = Time{2 * us}; // before the link goes down: what has set out stays on it
  options.may_halt = true;
  const Report early = replayed(topology, collective, schedule, options);
  REQUIRE(early.stuck.size() == 2);
  CHECK(early.stuck[1].link == LinkId{0});
  CHECK(early.stuck[1].since == Time{});
}

TEST_CASE("what runs beyond a broken link keeps its link busy, and delivers nothing") {
  // 0 > switch > 1, or around by 2. Chunk 1 comes from 3 and wants the switch's link to 1.
  TopologyParts parts = samples::npus("around a switch", 4);
  parts.add_node({"switch0", NodeKind::switching, {false, false, false}, {}});
  for (const auto& [from, to] : {std::pair{0U, 4U}, {4U, 1U}, {0U, 2U}, {2U, 1U}, {3U, 4U}})
    parts.add_link(link(from, to));
  const Topology topology(std::move(parts));
  Schedule schedule = steps(topology, {{0, {0, 1}}, {1, {4, 1}}});
  const std::vector<LinkId> around{LinkId{2}, LinkId{3}};
  const PathId other = schedule.paths().intern(around);
  const std::vector<NetworkEvent> events{on_link(5 * us, Kind::link_down, 0)};
  const std::vector<RouteChange> routes{{Time{8 * us}, {{schedule.path_of(0), other}}}};
  RunOptions options;
  options.events = events;
  options.route_changes = routes;
  // Link 1 is busy with chunk 0's head until a + D, then takes chunk 1, whose tail is in by then.
  CHECK(replayed(topology, chunks({{{0}, {1}}, {{3}, {1}}}), schedule, options).deliveries ==
        std::vector<Time>{{8 * us + 2 * a + 2 * D}, {2 * a + 2 * D}});
}

TEST_CASE("a run may begin later, on a network that has changed before") {
  const Topology topology = line(2);
  const std::vector<NetworkEvent> events{on_link(5 * us, Kind::link_down, 0),
                                         on_link(7 * us, Kind::link_up, 0),
                                         on_link(100 * us, Kind::link_rate, 0, 50)};
  RunOptions options;
  options.events = events;
  options.begin = Time{100 * us};
  CHECK(replayed(topology, chunks({{{0}, {1}}}), steps(topology, {{0, {0}}}), options)
            .completion.ps == 100 * us + a + 2 * D);
}

TEST_CASE("an event long after the end changes nothing") {
  const Topology topology = line(2);
  const std::vector<NetworkEvent> events{on_link(1'000'000 * us, Kind::link_down, 0)};
  RunOptions options;
  options.events = events;
  options.may_halt = true;
  const Report report =
      replayed(topology, chunks({{{0}, {1}}}), steps(topology, {{0, {0}}}), options);
  CHECK(report.completion == Time{a + D});
  CHECK(report.quiet == Time{a + D});
}

TEST_CASE("a halt that isn't allowed is an error that says what waits for which link") {
  const Topology topology = line(2);
  const std::vector<NetworkEvent> events{on_link(3 * us, Kind::link_down, 0)};
  RunOptions options;
  options.events = events;
  for (const EngineRow& engine : engines())
    CHECK(message_of([&] {
            (void)engine.run(topology, chunks({{{0}, {1}}}), steps(topology, {{0, {0}}}), {},
                             options);
          }) ==
          "1 of 1 transfers were never delivered: transfer 0 (chunk 0, npu0 > npu1) waits for "
          "npu0>npu1, which is down since 3us");
}

TEST_CASE("options that make no sense") {
  const Topology topology = two_ways();
  const Collective collective = chunks({{{0}, {1}}});
  const Schedule schedule = steps(topology, {{0, {0}}});
  const auto message = [&](const RunOptions& options, const TimeModel& model = {}) {
    return message_of([&] { (void)run_simgrid(topology, collective, schedule, model, options); });
  };
  RunOptions options;
  std::vector<JobTiming> jobs(2);
  options.jobs = jobs;
  CHECK(message(options) == "2 jobs are given for a collective of 1 parts");
  jobs = {{{}, 8}};
  options.jobs = jobs;
  CHECK(message(options) == "job 0: priority 8 is out of range (0 to 7)");
  jobs = {{Time{-1}, 0}};
  options.jobs = jobs;
  CHECK(message(options) == "job 0: it starts before time 0");
  const std::vector<RouteChange> routes{{{}, {{PathId{0}, PathId{1}}}}};
  options.jobs = {};
  options.route_changes = routes;
  CHECK(message(options) ==
        "a route change replaces a path from npu0 to npu1 by one with other ends");
  TimeModel fluid;
  fluid.discipline = Discipline::fluid;
  options = {};
  options.may_halt = true;
  CHECK(
      message(options, fluid) ==
      "fluid sharing knows no network events, jobs, route changes, freezing or halting; fifo does");
}

} // namespace dynamic_engines_test
