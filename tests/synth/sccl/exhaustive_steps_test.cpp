// What the oracle of the synthesis tests answers where theory knows the answer.
#include "tests/synth/sccl/exhaustive_steps.hpp"

#include "synth/sccl/fault.hpp"
#include "tests/catch.hpp"
#include "tests/synth/sccl/samples.hpp"

#include <cstdint>
#include <vector>

namespace exhaustive_steps_test {

using namespace tutti;
using namespace tutti::testing;

namespace {

bool exists(const StepProblem& problem, const StepInstance& instance) {
  const ExhaustiveAnswer answer = try_all_schedules(problem, instance, 20'000'000);
  INFO(instance.chunks_per_shard << ' ' << instance.steps << ' ' << instance.rounds);
  REQUIRE(answer.existence != Existence::undecided);
  if (answer.existence == Existence::exists)
    CHECK(step_fault(problem, instance, answer.schedule) == "");
  return answer.existence == Existence::exists;
}

} // namespace

TEST_CASE("exhaustive search knows All-Gather on rings") {
  // Three chunks for each piece come in over two lanes: R / C >= 3/2; the diameter is 2.
  const StepProblem ring = samples::all_gather(samples::ring_lanes(4));
  CHECK_FALSE(exists(ring, {1, 1, 5}));
  CHECK(exists(ring, {1, 2, 2}));
  CHECK_FALSE(exists(ring, {2, 2, 2}));
  CHECK(exists(ring, {2, 2, 3}));
  CHECK_FALSE(exists(ring, {3, 3, 4}));

  // Two chunks over two lanes: one step, one round.
  const StepProblem triangle = samples::all_gather(samples::ring_lanes(3));
  for (std::uint32_t chunks_per_shard = 1; chunks_per_shard <= 3; ++chunks_per_shard) {
    CHECK(exists(triangle, {chunks_per_shard, 1, chunks_per_shard}));
    if (chunks_per_shard > 1)
      CHECK_FALSE(exists(triangle, {chunks_per_shard, 1, chunks_per_shard - 1}));
  }

  // One way: three steps, each chunk crosses three lanes.
  const StepProblem one_way =
      samples::all_gather(samples::lanes(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}));
  CHECK(exists(one_way, {1, 3, 3}));
  CHECK_FALSE(exists(one_way, {1, 2, 4}));
  CHECK(exists(one_way, {2, 3, 6}));
  CHECK_FALSE(exists(one_way, {2, 3, 5}));
}

TEST_CASE("exhaustive search knows pipelines and stars") {
  // A Broadcast of C chunks along a line of n nodes, one round a step: C + n - 2 steps.
  for (std::uint32_t nodes = 2; nodes <= 5; ++nodes)
    for (std::uint32_t chunks_per_shard = 1; chunks_per_shard <= 3; ++chunks_per_shard) {
      const StepProblem line = samples::broadcast(samples::line_lanes(nodes));
      const std::uint32_t steps = chunks_per_shard + nodes - 2;
      CHECK(exists(line, {chunks_per_shard, steps, steps}));
      if (steps > nodes - 1) CHECK_FALSE(exists(line, {chunks_per_shard, steps - 1, steps - 1}));
    }
  // To and from the end of a line everything crosses one lane.
  for (std::uint32_t chunks_per_shard = 1; chunks_per_shard <= 2; ++chunks_per_shard)
    for (const StepProblem& line :
         {samples::gather(samples::line_lanes(4)), samples::scatter(samples::line_lanes(4))}) {
      CHECK(exists(line, {chunks_per_shard, 3, 3 * chunks_per_shard}));
      CHECK_FALSE(exists(line, {chunks_per_shard, 3, 3 * chunks_per_shard - 1}));
      CHECK_FALSE(exists(line, {chunks_per_shard, 2, 6 * chunks_per_shard}));
    }
  // Everyone has a lane to everyone.
  const StepProblem full = samples::all_to_all(samples::full_lanes(4));
  CHECK(exists(full, {1, 1, 1}));
  CHECK(exists(full, {2, 1, 2}));
  CHECK_FALSE(exists(full, {2, 1, 1}));
  // All-to-All on a ring of four: 4 * (1 + 1 + 2) lane crossings over 8 lanes.
  const StepProblem ring = samples::all_to_all(samples::ring_lanes(4));
  CHECK(exists(ring, {1, 2, 2}));
  CHECK_FALSE(exists(ring, {2, 2, 3}));
}

TEST_CASE("exhaustive search knows joint limits and fractions") {
  // Three chunks leave node 0 over a bus of 3/2 chunks a round.
  StepProblem star = samples::scatter(samples::lanes(4, {{0, 1}, {0, 2}, {0, 3}}));
  star.network.limits.push_back({"bus", {LaneId{0}, LaneId{1}, LaneId{2}}, {3, 2}});
  CHECK_FALSE(exists(star, {1, 1, 1}));
  CHECK(exists(star, {1, 1, 2}));
  CHECK_FALSE(exists(star, {1, 2, 2})); // 1 + 1
  CHECK(exists(star, {1, 2, 3}));       // 3 + 1, or 1 + 3
  CHECK(exists(star, {2, 1, 4}));
  CHECK_FALSE(exists(star, {2, 1, 3}));
  CHECK_FALSE(exists(star, {2, 3, 4})); // 3 + 1 + 1
  CHECK(exists(star, {2, 2, 4}));       // 3 + 3

  // A half-duplex ring of three: two of the six sends in a round.
  StepProblem bus = samples::all_gather(samples::ring_lanes(3));
  bus.network.limits.push_back(
      {"bus", {LaneId{0}, LaneId{1}, LaneId{2}, LaneId{3}, LaneId{4}, LaneId{5}}, 2});
  CHECK(exists(bus, {1, 1, 3}));
  CHECK_FALSE(exists(bus, {1, 2, 2}));
}

TEST_CASE("exhaustive search knows relays, several sources and the unreachable") {
  // Two ways of two steps, each with one relay that wants nothing.
  const StepNetwork diamond = samples::lanes(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  const StepProblem relayed{diamond, {{{0}, {3}}}};
  CHECK(exists(relayed, {1, 2, 2}));
  CHECK(exists(relayed, {2, 2, 2}));
  CHECK_FALSE(exists(relayed, {3, 2, 3}));
  CHECK(exists(relayed, {3, 3, 3}));
  CHECK_FALSE(exists(relayed, {1, 1, 4}));
  // A second source halves what the first must send.
  CHECK(exists({samples::line_lanes(3), {{{0, 2}, {1}}}}, {2, 1, 1}));
  CHECK_FALSE(exists({samples::line_lanes(3), {{{0}, {1}}}}, {2, 1, 1}));
  // Nobody leads back to node 0.
  CHECK_FALSE(exists({diamond, {{{3}, {0}}}}, {1, 4, 8}));
  // Everyone has what it wants; but there are as many rounds as steps at least.
  CHECK(exists({diamond, {{{3}, {}}}}, {1, 2, 5}));
  CHECK_FALSE(exists({diamond, {{{3}, {}}}}, {1, 2, 1}));
}

} // namespace exhaustive_steps_test
