// The checker of histories must see what went wrong; each error is planted into a good history.

#include "sim/repair/history_check.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/sim/repair_samples.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace repair_history_test {

using namespace tutti;
using namespace tutti::repair_samples;

namespace {

constexpr std::int64_t us = 1'000'000, hop = 20'500'000; // ps: 1 MB over a link of the samples
constexpr ChunkId zero{0};

struct Told {
  std::vector<Segment> segments;
  std::vector<std::vector<Time>> deliveries;
  std::vector<NetworkEvent> events;
  std::vector<ChunkAt> lost, missing;
  Ending ending = Ending::complete;
  Time completion;
  std::size_t counted = 0;
  std::vector<Time> starts;
};

std::vector<Time> hops(std::initializer_list<std::int64_t> counts) {
  std::vector<Time> times;
  for (const std::int64_t count : counts) times.push_back(Time{count * hop});
  return times;
}

/// Ring of three, link i: i -> i + 1. All-Reduce of one chunk: 0 has given to 1; then the rest is
/// done by 1 -> 2, and copies 2 -> 0 -> 1.
Told good_history(const Topology& topology) {
  Segment first = segment(topology, collective({{{0, 1, 2}, {0, 1, 2}, true}}),
                          {{0, {0}, Op::reduce}, {0, {1}, Op::reduce, false, false}});
  first.end = Time{hop};
  Segment second = segment(topology, collective({{{1, 2}, {0, 1, 2}, true}}),
                           {{0, {1}, Op::reduce}, {0, {2}}, {0, {0}}});
  second.begin = Time{hop};
  second.end = Time{4 * hop};
  second.starts = starts({Start::present, Start::present});
  Told told;
  told.segments = {first, second};
  told.deliveries = {hops({1, 0}), hops({2, 3, 4})};
  told.completion = Time{4 * hop};
  return told;
}

std::string fault_of(const Topology& topology, const Told& told) {
  const Collective whole = told.segments.front().collective;
  return check_history(topology, whole,
                       {told.segments, told.deliveries, told.events, {}, told.starts},
                       {told.ending, told.completion, told.lost, told.missing, told.counted})
      .value_or("");
}

bool says(const std::string& fault, const std::string& words) {
  INFO(fault);
  return fault.find(words) != std::string::npos;
}

} // namespace

TEST_CASE("a good history has no fault") {
  const Topology topology = samples::ring(3, true);
  CHECK(fault_of(topology, good_history(topology)).empty());
}

TEST_CASE("planted errors in deliveries are found") {
  const Topology topology = samples::ring(3, true);
  Told told = good_history(topology);
  const auto fault = [&] { return fault_of(topology, told); };

  SECTION("one didn't take place: others build on it") {
    told.segments[0].delivered[0] = false; // 1 has {1} only
    CHECK(says(fault(), "the contribution of npu0, which lives, to chunk 0 is left out"));
  }
  SECTION("the last one didn't: someone misses it") {
    told.segments[1].delivered[2] = false;
    CHECK(says(fault(), "0 chunks are said to be missing, and 1 are"));
    told.missing = {{zero, NodeId{1}}};
    CHECK(says(fault(), "said to be complete, and is incomplete"));
    told.ending = Ending::incomplete;
    CHECK(says(fault(), "the last delivery is said to be at"));
    told.completion = Time{3 * hop};
    CHECK(fault().empty());
  }
  SECTION("one is counted twice") {
    told.segments[1].schedule.push({zero, PathId{0}, Op::reduce, false});
    told.segments[1].delivered.push_back(true);
    told.deliveries[1].push_back(Time{5 * hop});
    told.segments[1].end = Time{5 * hop};
    CHECK(says(fault(), "a contribution is counted twice at npu1"));
  }
  SECTION("too early by a picosecond") {
    told.deliveries[0][0].ps -= 1;
    CHECK(says(fault(), "nothing can reach"));
  }
  SECTION("before its sender had what it sent") {
    told.deliveries[1][1] = Time{2 * hop};
    CHECK(says(fault(), "nothing can reach before 61.5us"));
  }
  SECTION("after its segment") {
    told.segments[1].end = Time{4 * hop - 1};
    CHECK(says(fault(), "outside its segment"));
  }
  SECTION("over a link that is down, for good or until later") {
    told.events = {link_down(10 * us, 0)};
    CHECK(says(fault(), "down for good"));
    told.events.push_back(link_up(100 * us, 0));
    CHECK(says(fault(), "nothing can reach before 110.5us"));
  }
  SECTION("faster than a link that is slow") {
    told.events = {link_rate(10 * us, 0, 50)};
    CHECK(says(fault(), "nothing can reach before 30.5us"));
  }
  SECTION("out of an NPU that is dead, and into one") {
    told.events = {npu_down(19 * us, 0)}; // the last byte leaves at 20 us
    CHECK(says(fault(), "transfer 0: it was delivered to npu1 though links"));
    told.events = {npu_down(20 * us + 1, 1)};
    CHECK(says(fault(), "npu1 was dead when it was delivered there"));
  }
  SECTION("a copy over what isn't in it") {
    told.segments[1].schedule = Schedule(3);
    for (const std::uint32_t l : {1U, 2U, 0U})
      told.segments[1].schedule.push(
          {zero, told.segments[1].schedule.paths().intern(std::vector{LinkId{l}}), Op::copy,
           false});
    CHECK(says(fault(), "the copy loses contributions at npu2"));
  }
  SECTION("of a value that the plan doesn't count") {
    told.segments[1].delivered = {false, false, true};
    CHECK(says(fault(), "npu0 doesn't hold what it sent"));
  }
}

TEST_CASE("what is said of one that joins late can't have been before") {
  const Topology topology = samples::ring(3, true);
  Told told = good_history(topology);
  const auto fault = [&] { return fault_of(topology, told); };
  told.starts = hops({0, 1, 2});
  CHECK(fault().empty());
  SECTION("delivered") {
    told.starts[1].ps += 1;
    CHECK(says(fault(), "delivered to npu1 at 20.5us, which joins at 20500001ps"));
  }
  SECTION("sent") {
    told.starts[0].ps += 1;
    CHECK(says(fault(), "nothing can reach before 20500001ps"));
  }
  SECTION("over") {
    told.segments = {segment(topology, collective({{{0, 1}, {2}}}), {{0, {1}}})};
    told.segments[0].end = Time{hop};
    told.deliveries = {hops({1})};
    told.starts = {Time{50 * us}, Time{}, Time{}};
    told.completion = Time{hop};
    CHECK(says(fault(), "said to be at 20.5us, and was at 50us"));
    told.events = {npu_down(40 * us, 0)};
    CHECK(says(fault(), "said to be at 20.5us, and was at 50us"));
    told.completion = Time{50 * us};
    CHECK(says(fault(), "doesn't count"));
    told.completion = Time{hop};
    told.counted = 1;
    CHECK(fault().empty());
  }
  SECTION("for other nodes") {
    told.starts.pop_back();
    CHECK(says(fault(), "2 start times for 3 nodes"));
  }
}

TEST_CASE("planted errors in plans are found") {
  const Topology topology = samples::ring(3, true);
  Told told = good_history(topology);
  const auto fault = [&] { return fault_of(topology, told); };

  SECTION("a holder is left out, and with it its contribution") {
    told.segments[1].collective.sets[0] = npus({1});
    CHECK(says(fault(), "the contribution of npu2, which lives"));
  }
  SECTION("a holder's contribution is in another's value, too") {
    told.segments[1].collective.sets[0] = npus({0, 1, 2});
    told.segments[1].starts = starts({Start::present, Start::present, Start::present});
    CHECK(says(fault(), "overlap at npu1"));
  }
  SECTION("a holder adds its input to what has it") {
    told.segments[1].starts = starts({Start::both, Start::present});
    CHECK(says(fault(), "npu1 would count its input to chunk 0 twice"));
  }
  SECTION("a holder holds nothing, or has no input") {
    told.segments[0].collective = collective({{{0, 1}, {0, 1, 2}, true}});
    CHECK(says(fault(), "npu2 doesn't hold chunk 0, which counts from there"));
    told.segments[1].starts = starts({Start::present, Start::input});
    CHECK(says(fault(), "npu2 has no input to chunk 0"));
  }
  SECTION("a value that isn't complete is copied") {
    told.segments[1].collective.chunks[0].reduces = false;
    CHECK(says(fault(), "which lives, to chunk 0 is left out"));
  }
  SECTION("inputs come back though nobody asked for them") {
    told.segments[1].starts = starts({Start::input, Start::input});
    CHECK(says(fault(), "the contribution of npu0, which lives, to chunk 0 is left out"));
  }
  SECTION("segments overlap in time") {
    told.segments[0].end = Time{2 * hop};
    CHECK(says(fault(), "begins before"));
  }
  SECTION("a chunk twice") {
    told.segments[1].chunk.push_back(zero);
    CHECK(says(fault(), "names chunk 0 twice"));
  }
}

TEST_CASE("planted errors in claims are found") {
  const Topology topology = samples::ring(3, true);
  Told told = good_history(topology);
  const auto fault = [&] { return fault_of(topology, told); };

  SECTION("lost, though its NPU lives") {
    told.lost = {{zero, NodeId{0}}};
    CHECK(says(fault(), "the contribution of npu0 is said to be lost, but someone alive has it"));
  }
  SECTION("lost, though who died has passed it on") {
    told.events = {npu_down(hop + 1, 0)};
    told.counted = 1;
    told.segments[1].delivered = {true, false, false};
    told.lost = {{zero, NodeId{0}}};
    CHECK(says(fault(), "the contribution of npu0 is said to be lost, but someone alive has it"));
  }
  SECTION("lost, and nobody says so") {
    told.events = {npu_down(1, 0)};
    told.counted = 1;
    told.segments.pop_back();
    told.deliveries.pop_back();
    told.segments[0].delivered = {false, false};
    told.ending = Ending::incomplete;
    told.missing = {{zero, NodeId{1}}, {zero, NodeId{2}}};
    told.completion = {};
    CHECK(says(fault(), "the contribution of npu0 is lost, and nobody says so"));
    told.lost = {{zero, NodeId{0}}};
    CHECK(fault().empty());
  }
  SECTION("another ending") {
    for (const Ending ending : {Ending::incomplete, Ending::no_destination, Ending::nothing_left}) {
      told.ending = ending;
      CHECK(says(fault(), "and is complete"));
    }
  }
  SECTION("another time") {
    told.completion = Time{3 * hop};
    CHECK(says(fault(), "said to be at"));
  }
  SECTION("events that don't count, though it wasn't over") {
    told.events = {npu_down(4 * hop + 1, 0)};
    CHECK(fault().empty());
    told.events = {link_down(4 * hop, 0)};
    CHECK(says(fault(), "doesn't count"));
  }
}

TEST_CASE("nobody to receive anything, nothing to receive") {
  const Topology topology = samples::ring(3, true);
  Told told;
  told.segments = {segment(topology, collective({{{0, 1, 2}, {2}, true}}), {})};
  told.deliveries = {{}};
  told.events = {npu_down(1, 2)};
  told.counted = 1;
  told.lost = {{zero, NodeId{2}}};
  CHECK(says(fault_of(topology, told), "is no destination lives"));
  told.ending = Ending::no_destination;
  CHECK(fault_of(topology, told).empty());

  told.segments = {segment(topology, collective({{{2}, {0, 1, 2}}}), {})};
  CHECK(says(fault_of(topology, told), "is nothing survives"));
  told.ending = Ending::nothing_left;
  CHECK(fault_of(topology, told).empty());
}

TEST_CASE("an input that only the dead had added up is there still") {
  // 0 -> 1 -> 2: all is in 2's sum, which counts alone. Then 2 dies, and the next plan takes 1's
  // value for all there is, or 0's and 1's inputs.
  const Topology topology = samples::full(4);
  const auto between = [&](std::uint32_t from, std::uint32_t to) {
    for (const LinkId link : topology.out_links(NodeId{from}))
      if (topology.link(link).to == NodeId{to}) return link.value;
    return UINT32_MAX;
  };
  Told told;
  Segment first = segment(topology, collective({{{0, 1, 2}, {3}, true}}),
                          {{0, {between(0, 1)}, Op::reduce}, {0, {between(1, 2)}, Op::reduce}});
  first.end = Time{2 * hop};
  Segment second = segment(topology, collective({{{2}, {3}}}), {{0, {between(2, 3)}}});
  second.delivered = {false};
  second.begin = Time{2 * hop};
  second.end = Time{3 * hop};
  second.starts = starts({Start::present});
  Segment third = segment(topology, collective({{{1}, {3}}}), {{0, {between(1, 3)}}});
  third.begin = Time{3 * hop};
  third.end = Time{4 * hop};
  third.starts = starts({Start::present}); // {0,1}
  told.segments = {first, second, third};
  told.deliveries = {hops({1, 2}), hops({0}), hops({4})};
  told.events = {npu_down(2 * hop + us, 2)};
  told.counted = 1;
  told.lost = {{zero, NodeId{2}}};
  told.completion = Time{4 * hop};
  CHECK(fault_of(topology, told).empty());

  // As if 1 held its input alone, and 0 nothing: that is what must be seen.
  told.segments[2].starts = starts({Start::input});
  told.lost = {{zero, NodeId{0}}, {zero, NodeId{2}}};
  CHECK(says(fault_of(topology, told), "the contribution of npu0, which lives, to chunk 0"));

  // Both inputs do, too.
  told.segments[2].collective = collective({{{0, 1}, {3}, true}});
  told.segments[2].starts = starts({Start::input, Start::input});
  told.segments[2].schedule.push(
      {zero, told.segments[2].schedule.paths().intern(std::vector{LinkId{between(0, 3)}}),
       Op::reduce, false});
  told.segments[2].delivered = {true, true};
  told.deliveries[2] = hops({4, 4});
  told.lost = {{zero, NodeId{2}}};
  CHECK(fault_of(topology, told).empty());
}

TEST_CASE("what the dead gave is left out only where nobody could add it") {
  // 3 has given to 0 and 4 to 1, then 0 to 1: 1 has {0,1,3,4}. 3 and 4 die.
  const Topology topology = samples::full(5);
  const auto between = [&](std::uint32_t from, std::uint32_t to) {
    for (const LinkId link : topology.out_links(NodeId{from}))
      if (topology.link(link).to == NodeId{to}) return link.value;
    return UINT32_MAX;
  };
  Told told;
  Segment first = segment(topology, collective({{{0, 1, 2, 3, 4}, {2}, true}}),
                          {{0, {between(3, 0)}, Op::reduce},
                           {0, {between(4, 1)}, Op::reduce},
                           {0, {between(0, 1)}, Op::reduce, false, false}});
  first.end = Time{hop};
  Segment second = segment(topology, collective({{{0, 1, 2}, {2}, true}}),
                           {{0, {between(0, 2)}, Op::reduce}, {0, {between(1, 2)}, Op::reduce}});
  second.begin = Time{hop};
  second.end = Time{2 * hop};
  told.segments = {first, second};
  told.deliveries = {hops({1, 1, 0}), hops({2, 2})};
  told.events = {npu_down(hop, 3), npu_down(hop, 4)};
  told.counted = 2;
  told.completion = Time{2 * hop};
  told.segments[1].starts = starts({Start::present, Start::present, Start::present});
  CHECK(fault_of(topology, told).empty());

  // 0 begins with its input although its {0,3} would have done.
  told.segments[1].starts = starts({Start::input, Start::present, Start::present});
  told.lost = {{zero, NodeId{3}}};
  CHECK(says(fault_of(topology, told), "is left out, which npu0 has and could add"));
  told.segments[1].collective = collective({{{1, 2}, {2}, true}});
  told.segments[1].starts = starts({Start::present, Start::present});
  CHECK(says(fault_of(topology, told), "which lives, to chunk 0 is left out"));
}

TEST_CASE("what waits at an NPU that lives is held: a plan must count it, and it isn't lost") {
  // Ring of three, link i: i -> i + 1. 2 is to send its own on, over a link that is down, before it
  // takes what has come from 1, which then dies.
  const Topology topology = samples::ring(3, true);
  Told told;
  told.segments = {
      segment(topology, collective({{{0, 1, 2}, {2}, true}}),
              {{0, {2}, Op::reduce, false, false}, {0, {1}, Op::reduce, false, false}})};
  told.segments[0].waiting = {1};
  told.segments[0].end = Time{hop};
  told.deliveries = {hops({0, 0})};
  told.events = {link_down(0, 2), npu_down(hop, 1)};
  told.counted = 2;
  told.missing = {{zero, NodeId{2}}};
  told.ending = Ending::incomplete;
  const auto fault = [&] { return fault_of(topology, told); };
  CHECK(fault().empty());

  SECTION("said to be lost") {
    told.lost = {{zero, NodeId{1}}};
    CHECK(says(fault(), "the contribution of npu1 is said to be lost, but someone alive has it"));
  }
  SECTION("left out of a plan") {
    Segment second = segment(topology, collective({{{0, 2}, {2}, true}}), {});
    second.begin = second.end = Time{hop};
    second.starts = starts({Start::input, Start::input});
    told.segments.push_back(second);
    told.deliveries.emplace_back();
    told.lost = {{zero, NodeId{1}}};
    CHECK(says(fault(), "the contribution of npu1 to chunk 0 is left out, which npu2 has and "
                        "could add"));
  }
  SECTION("taken in by a plan, alone or added to what is there") {
    Segment second =
        segment(topology, collective({{{0, 2}, {2}, true}}), {{0, {0, 1}, Op::reduce}});
    second.begin = Time{hop};
    second.end = Time{3 * hop};
    second.starts = starts({Start::input, Start::both});
    told.segments.push_back(second);
    told.deliveries.push_back({Time{3 * hop}});
    told.completion = Time{3 * hop};
    told.missing = {};
    told.ending = Ending::complete;
    told.events = {link_down(0, 2)};
    told.counted = 1;
    CHECK(says(fault(), "npu2 would count its input to chunk 0 twice"));
    told.segments[1].starts = starts({Start::input, Start::input});
    CHECK(says(fault(), "the contribution of npu1, which lives, to chunk 0 is left out"));
    told.segments[1].takes_in = {{0, 1}};
    CHECK(fault().empty());
    told.segments[1].starts = starts({Start::input, Start::nothing});
    CHECK(says(fault(), "the contribution of npu2, which lives, to chunk 0 is left out"));
    told.segments[1].takes_in = {{0, 0}, {0, 1}}; // 0 is on its way still
    told.segments[1].starts = starts({Start::input, Start::input});
    CHECK(says(fault(), "segment 1 takes in what doesn't wait at its holders"));
  }
  SECTION("taken in though it is there already") {
    told.segments[0].schedule.push(told.segments[0].schedule[1]); // the same once more
    told.segments[0].delivered = {false, true, false};
    told.segments[0].waiting = {2};
    told.deliveries[0] = hops({0, 1, 0});
    Segment second = segment(topology, collective({{{0, 2}, {2}, true}}), {});
    second.begin = second.end = Time{hop};
    second.starts = starts({Start::input, Start::present});
    second.takes_in = {{0, 2}};
    told.segments.push_back(second);
    told.deliveries.emplace_back();
    CHECK(says(fault(), "npu2 would count what it takes in of chunk 0 twice"));
  }
  SECTION("it can't have come by then") {
    told.segments[0].end = Time{hop - 1};
    CHECK(says(fault(), "nothing can reach before"));
  }
  SECTION("lost after all, with whom it came to") {
    told.events.push_back(npu_down(hop, 2));
    told.counted = 3;
    told.missing = {};
    told.lost = {{zero, NodeId{1}}, {zero, NodeId{2}}};
    told.ending = Ending::no_destination;
    CHECK(fault().empty());
  }
}

} // namespace repair_history_test
