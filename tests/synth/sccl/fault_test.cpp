#include "synth/sccl/fault.hpp"

#include "tests/catch.hpp"
#include "tests/synth/sccl/samples.hpp"

#include <string>
#include <vector>

namespace fault_test {

using namespace tutti;

namespace {

// The line 0 - 1 - 2.
constexpr std::uint32_t lane01 = 0, lane10 = 1, lane12 = 2, lane21 = 3;

StepProblem line() { return samples::all_gather(samples::line_lanes(3)); }

/// The ends' chunks pass through the middle.
StepSchedule line_schedule() {
  return {{1, 1},
          samples::step_sends({{0, lane01, 0},
                               {1, lane10, 0},
                               {1, lane12, 0},
                               {2, lane21, 0},
                               {2, lane10, 1},
                               {0, lane12, 1}})};
}

std::string line_fault(const StepSchedule& schedule) {
  return step_fault(line(), {1, 2, 2}, schedule);
}

/// The paper's Figure 2: neighbours exchange their chunks, then all they have, which takes two
/// rounds. Ring 0 - 1 - 2 - 3 with the lanes 0>1, 0>3, 1>0, 1>2, 2>1, 2>3, 3>0, 3>2.
std::vector<StepSend> recursive_doubling() {
  return samples::step_sends({{0, 0, 0},
                              {1, 2, 0},
                              {2, 5, 0},
                              {3, 7, 0},
                              {0, 1, 1},
                              {1, 1, 1},
                              {0, 3, 1},
                              {1, 3, 1},
                              {2, 4, 1},
                              {3, 4, 1},
                              {2, 6, 1},
                              {3, 6, 1}});
}

} // namespace

TEST_CASE("correct schedules in steps have no fault") {
  CHECK(line_fault(line_schedule()) == "");
  CHECK(step_fault(samples::all_gather(samples::ring_lanes(4)), {1, 2, 3},
                   {{1, 2}, recursive_doubling()}) == "");
  // Nothing to do: the steps are there all the same.
  CHECK(step_fault({samples::line_lanes(2), {{{0, 1}, {}}}}, {1, 1, 2}, {{2}, {}}) == "");
  // A chunk may end at a node that isn't its destination.
  CHECK(step_fault({samples::line_lanes(3), {{{0}, {1}}}}, {1, 2, 2},
                   {{1, 1}, samples::step_sends({{0, lane01, 0}, {0, lane12, 1}})}) == "");
  // Part k of chunk i is chunk i * C + k.
  CHECK(step_fault({samples::line_lanes(3), {{{1}, {0}}, {{1}, {2}}}}, {2, 1, 2},
                   {{2},
                    samples::step_sends(
                        {{0, lane10, 0}, {1, lane10, 0}, {2, lane12, 0}, {3, lane12, 0}})}) == "");
  // Either of two sources will do.
  const StepProblem held_twice{samples::line_lanes(3), {{{0, 2}, {1}}}};
  CHECK(step_fault(held_twice, {1, 1, 1}, {{1}, samples::step_sends({{0, lane01, 0}})}) == "");
  CHECK(step_fault(held_twice, {1, 1, 1}, {{1}, samples::step_sends({{0, lane21, 0}})}) == "");
}

TEST_CASE("the rounds of the steps are those of the instance") {
  StepSchedule schedule = line_schedule();
  schedule.rounds = {1};
  CHECK(line_fault(schedule) == "rounds are given for 1 steps, not 2");
  schedule.rounds = {1, 1, 1};
  CHECK(line_fault(schedule) == "rounds are given for 3 steps, not 2");
  schedule.rounds = {2, 0};
  CHECK(line_fault(schedule) == "step 1: has no round");
  schedule.rounds = {1, 2};
  CHECK(line_fault(schedule) == "the steps have 3 rounds together, not 2");
  schedule.rounds = {UINT32_MAX, 3}; // 2 where it wraps around
  CHECK(line_fault(schedule) == "the steps have 4294967298 rounds together, not 2");
}

TEST_CASE("sends name what exists, in the order of step, lane, chunk") {
  StepSchedule schedule = line_schedule();
  schedule.sends[5].step = Step{2};
  CHECK(line_fault(schedule) == "send 5: there is no step 2 (of 2)");
  schedule = line_schedule();
  schedule.sends[5].lane = LaneId{4};
  CHECK(line_fault(schedule) == "send 5: there is no lane 4 (of 4)");
  schedule = line_schedule();
  schedule.sends[5].chunk = ChunkId{3};
  CHECK(line_fault(schedule) == "send 5: there is no chunk 3 (of 3)");

  schedule = line_schedule();
  std::swap(schedule.sends[0], schedule.sends[1]); // lanes
  CHECK(line_fault(schedule) ==
        "send 1: step 0, lane 0, chunk 0 comes after step 0, lane 1, chunk 1");
  schedule = line_schedule();
  std::swap(schedule.sends[3], schedule.sends[4]); // steps
  CHECK(line_fault(schedule) ==
        "send 4: step 0, lane 3, chunk 2 comes after step 1, lane 1, chunk 2");
  std::vector<StepSend> sends = recursive_doubling();
  std::swap(sends[4], sends[5]); // chunks
  CHECK(step_fault(samples::all_gather(samples::ring_lanes(4)), {1, 2, 3}, {{1, 2}, sends}) ==
        "send 5: step 1, lane 1, chunk 0 comes after step 1, lane 1, chunk 1");
}

TEST_CASE("a chunk is sent by who holds it before the step") {
  StepSchedule schedule = line_schedule();
  schedule.sends.erase(schedule.sends.begin() + 3);
  CHECK(line_fault(schedule) ==
        "step 1: node 1 sends chunk 2 to node 0 over lane 1, but doesn't hold it");
  // What comes in a step goes on in the next.
  schedule = {
      {2},
      samples::step_sends(
          {{0, lane01, 0}, {1, lane10, 0}, {0, lane12, 0}, {1, lane12, 0}, {2, lane21, 0}})};
  CHECK(step_fault(line(), {1, 1, 2}, schedule) ==
        "step 0: node 1 sends chunk 0 to node 2 over lane 2, but doesn't hold it before the step");
  // Nor is what comes later there now.
  schedule = {{1, 1}, samples::step_sends({{0, lane12, 0}, {0, lane01, 1}})};
  CHECK(line_fault(schedule) ==
        "step 0: node 1 sends chunk 0 to node 2 over lane 2, but doesn't hold it");
}

TEST_CASE("nobody receives a chunk twice, or one that it had") {
  StepSchedule schedule = line_schedule();
  schedule.sends.insert(schedule.sends.begin() + 4, {ChunkId{0}, LaneId{lane01}, Step{1}});
  CHECK(line_fault(schedule) == "step 1: node 1 receives chunk 0, which came in step 0 already");
  schedule = line_schedule();
  schedule.sends.insert(schedule.sends.begin() + 4, {ChunkId{0}, LaneId{lane10}, Step{1}});
  CHECK(line_fault(schedule) == "step 1: node 0 receives chunk 0, which it holds from the start");
  // The very same send twice, and two senders in one step.
  schedule = line_schedule();
  schedule.sends.insert(schedule.sends.begin(), schedule.sends.front());
  CHECK(line_fault(schedule) == "step 0: node 1 receives chunk 0, which came in step 0 already");
  CHECK(step_fault({samples::line_lanes(3), {{{0, 2}, {1}}}}, {1, 1, 1},
                   {{1}, samples::step_sends({{0, lane01, 0}, {0, lane21, 0}})}) ==
        "step 0: node 1 receives chunk 0, which came in step 0 already");
}

TEST_CASE("the sends of a step keep to the limits of their lanes") {
  const StepProblem ring = samples::all_gather(samples::ring_lanes(4));
  CHECK(step_fault(ring, {1, 2, 3}, {{2, 1}, recursive_doubling()}) ==
        "step 1: 2 sends over npu0>npu3, which carries 1 in 1 round");

  // Two of three chunks from node 0 share a bus of 3/2 chunks a round with what comes back.
  StepProblem star{samples::lanes(4, {{0, 1}, {0, 2}, {0, 3}, {1, 0}}), {}};
  star.network.limits.push_back({"bus", {LaneId{0}, LaneId{1}, LaneId{3}}, {3, 2}});
  for (const std::uint32_t to : {1U, 2U, 3U}) star.chunks.push_back({{0}, {to}});
  star.chunks.push_back({{1}, {0}});
  const std::vector<StepSend> at_once =
      samples::step_sends({{0, 0, 0}, {1, 1, 0}, {2, 2, 0}, {3, 3, 0}});
  CHECK(step_fault(star, {1, 1, 1}, {{1}, at_once}) ==
        "step 0: 3 sends over bus, which carries 1 in 1 round");
  CHECK(step_fault(star, {1, 1, 2}, {{2}, at_once}) == "");
  // Fractions don't add up over steps: 1 + 1, not 3.
  const std::vector<StepSend> one_later =
      samples::step_sends({{0, 0, 0}, {1, 1, 0}, {2, 2, 0}, {3, 3, 1}});
  CHECK(step_fault(star, {1, 2, 2}, {{1, 1}, one_later}) ==
        "step 0: 2 sends over bus, which carries 1 in 1 round");
  // The count starts anew in each step.
  const std::vector<StepSend> spread =
      samples::step_sends({{0, 0, 0}, {2, 2, 0}, {1, 1, 1}, {3, 3, 2}});
  CHECK(step_fault(star, {1, 3, 3}, {{1, 1, 1}, spread}) == "");
}

TEST_CASE("who wants a chunk has it in the end") {
  StepSchedule schedule = line_schedule();
  schedule.sends.pop_back();
  CHECK(line_fault(schedule) == "node 2 doesn't hold chunk 0 in the end");
  CHECK(line_fault({{1, 1}, {}}) == "node 1 doesn't hold chunk 0 in the end");
  // The second piece is missing.
  CHECK(step_fault({samples::line_lanes(2), {{{0}, {1}}}}, {2, 1, 1},
                   {{1}, samples::step_sends({{0, 0, 0}})}) ==
        "node 1 doesn't hold chunk 1 in the end");
}

TEST_CASE("faults name nodes as the topology does") {
  StepProblem problem{samples::line_lanes(2), {{{0}, {1}}}};
  problem.network.nodes = {NodeId{0}, NodeId{7}}; // a memory behind switches
  CHECK(step_fault(problem, {1, 1, 1}, {{1}, {}}) == "node 7 doesn't hold chunk 0 in the end");
}

} // namespace fault_test
