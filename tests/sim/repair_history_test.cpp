// The checker of histories must see what went wrong; each error is planted into a good history.

#include "sim/repair/history_check.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/sim/repair_samples.hpp"

#include <algorithm>
#include <optional>
#include <string>

using namespace tutti;
using namespace tutti::repair_samples;

namespace {

const std::vector<std::optional<Time>> all_live(3);

/// Ring of three, link i: i -> i + 1. All-Reduce of one chunk: 0 has given to 1; then the rest is
/// done by 1 -> 2, and copies 2 -> 0 -> 1.
std::vector<Segment> good_history(const Topology& topology) {
  const Segment first = segment(topology, collective({{{0, 1, 2}, {0, 1, 2}, true}}),
                                {{0, {0}, Op::reduce}, {0, {1}, Op::reduce, false, false}});
  Segment second = segment(topology, collective({{{1, 2}, {0, 1, 2}, true}}),
                           {{0, {1}, Op::reduce}, {0, {2}}, {0, {0}}});
  second.begin = second.end = Time{1};
  second.from_inputs = {false};
  return {first, second};
}

std::string fault_of(const Topology& topology, const std::vector<Segment>& history,
                     std::vector<ChunkAt> lost = {},
                     const std::vector<std::optional<Time>>& died = all_live) {
  return check_history(topology, history.front().collective, history, lost, died)
      .fault.value_or("");
}

bool says(const std::string& fault, const std::string& words) {
  INFO(fault);
  return fault.find(words) != std::string::npos;
}

} // namespace

TEST_CASE("a good history has no fault and misses nothing") {
  const Topology topology = samples::ring(3, true);
  const std::vector<Segment> history = good_history(topology);
  const HistoryVerdict verdict =
      check_history(topology, history.front().collective, history, {}, all_live);
  CHECK(verdict.correct());
  CHECK(verdict.missing.empty());
}

TEST_CASE("planted errors in a history are found") {
  const Topology topology = samples::ring(3, true);
  std::vector<Segment> history = good_history(topology);

  SECTION("a holder is left out: its contribution is left behind") {
    history[1].collective.sets[0] = npus({1});
    CHECK(says(fault_of(topology, history), "left behind"));
  }
  SECTION("a holder's sum is counted once more") {
    history[1].collective.sets[0] = npus({0, 1, 2});
    CHECK(says(fault_of(topology, history), "overlap"));
  }
  SECTION("a holder that holds nothing") {
    history[0].collective = collective({{{0, 1}, {0, 1, 2}, true}});
    CHECK(says(fault_of(topology, history), "doesn't hold"));
  }
  SECTION("a value that isn't complete is copied") {
    history[1].collective.chunks[0].reduces = false;
    CHECK(says(fault_of(topology, history), "lacks"));
  }
  SECTION("a contribution is added twice") {
    history[0].delivered[1] = true; // 2 has {0,1,2} by then ...
    history[1].collective.sets[0] = npus({1, 2});
    CHECK(says(fault_of(topology, history), "overlap"));
    history.pop_back(); // ... and so it does if 0 -> 1 comes twice in one segment
    history[0].schedule.push({ChunkId{0}, PathId{0}, Op::reduce, false});
    history[0].delivered.push_back(true);
    CHECK(says(fault_of(topology, history), "counted twice"));
  }
  SECTION("a delivery that others build on didn't take place") {
    history[0].delivered[0] = false; // 1 has {1} only
    CHECK(says(fault_of(topology, history), "left behind"));
  }
  SECTION("the last delivery didn't take place: someone misses it") {
    history[1].delivered[2] = false;
    const HistoryVerdict verdict =
        check_history(topology, history.front().collective, history, {}, all_live);
    CHECK(verdict.correct());
    CHECK(verdict.missing == std::vector<ChunkAt>{{ChunkId{0}, NodeId{1}}});
  }
  SECTION("something is said to be lost that the living have") {
    CHECK(says(fault_of(topology, history, {{ChunkId{0}, NodeId{0}}}), "said to be lost"));
  }
  SECTION("the dead take part") {
    CHECK(says(fault_of(topology, history, {}, {std::nullopt, Time{1}, std::nullopt}), "dead"));
    // In the segment during which it died it may have taken part.
    history[1].delivered = {true, true, false};
    CHECK(fault_of(topology, history, {}, {std::nullopt, Time{2}, std::nullopt}).empty());
  }
  SECTION("a copy from one who lacks something") {
    history[1].schedule = Schedule(3);
    for (const std::uint32_t l : {0U, 1U, 2U})
      history[1].schedule.push({ChunkId{0}, PathId{l}, Op::copy, false});
    CHECK(says(fault_of(topology, history), "doesn't hold"));
    history[1].delivered = {false, true, true}; // {0,1} copied over {2}
    CHECK(says(fault_of(topology, history), "loses contributions"));
  }
  SECTION("inputs come back though nobody asked for them") {
    history[1].from_inputs = {true};
    CHECK(says(fault_of(topology, history), "left behind"));
  }
  SECTION("segments overlap in time") {
    history[0].end = Time{2};
    CHECK(says(fault_of(topology, history), "begins before"));
  }
}

TEST_CASE("a reduction without the contributions of the dead is complete without them") {
  const Topology topology = samples::ring(3, true);
  Segment first = segment(topology, collective({{{0, 1, 2}, {0, 1, 2}, true}}), {});
  Segment second =
      segment(topology, collective({{{1, 2}, {1, 2}, true}}), {{0, {1}, Op::reduce, false, true}});
  second.from_inputs = {false};
  second.begin = second.end = Time{5};
  const std::vector<std::optional<Time>> died{Time{3}, std::nullopt, std::nullopt};
  const std::vector<ChunkAt> lost{{ChunkId{0}, NodeId{0}}};
  const std::vector<Segment> history{first, second};
  const HistoryVerdict verdict = check_history(topology, first.collective, history, lost, died);
  CHECK(verdict.correct());
  CHECK(verdict.missing == std::vector<ChunkAt>{{ChunkId{0}, NodeId{1}}});
  CHECK_FALSE(check_history(topology, first.collective, history, {}, died).correct());
}
