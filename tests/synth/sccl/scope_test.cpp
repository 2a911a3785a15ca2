// What lies outside of a scope changes no answer: held against the whole network by trying all
// schedules, and its outline against the whole network's linear programs.

#include "synth/sccl/scope.hpp"

#include "synth/sccl/flows.hpp"
#include "synth/sccl/frontier.hpp"
#include "synth/sccl/rounds.hpp"
#include "tests/catch.hpp"
#include "tests/synth/sccl/exhaustive_steps.hpp"
#include "tests/synth/sccl/random_steps.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace scope_test {

using namespace tutti;
using namespace tutti::testing;

namespace {

Existence existence(const StepProblem& problem, const StepInstance& instance) {
  return try_all_schedules(problem, instance, 20'000).existence;
}

/// How many instances were decided of problems with nodes outside of the scope.
std::uint32_t compare_schedules(const StepProblem& whole) {
  const std::uint32_t fewest = fewest_steps(whole);
  std::uint32_t decided = 0;
  for (std::uint32_t steps = fewest; steps < fewest + 2; ++steps) {
    const StepScope scope = scope_within(whole, fewest, steps);
    CHECK(scope.steps == steps);
    if (scope.lanes.size() == whole.network.lanes.size()) continue;
    for (std::uint32_t chunks_per_shard = 1; chunks_per_shard <= 2; ++chunks_per_shard)
      for (std::uint32_t rounds = steps; rounds <= steps + 1; ++rounds) {
        const StepInstance instance{chunks_per_shard, steps, rounds};
        const Existence in_whole = existence(whole, instance);
        if (in_whole == Existence::undecided) continue;
        const Existence in_scope = existence(scope.problem, instance);
        if (in_scope == Existence::undecided) continue;
        INFO(chunks_per_shard << " chunks per shard, " << steps << " steps, " << rounds
                              << " rounds");
        CHECK(in_scope == in_whole);
        ++decided;
      }
  }
  return decided;
}

/// Whether anything lies outside of the narrowest scope, whose outline is compared.
bool compare_bounds(const StepProblem& whole) {
  const SynthesisOptions options;
  const WorkLimit unlimited(options);
  const std::uint32_t fewest = fewest_steps(whole);
  const StepScope scope = scope_within(whole, fewest, fewest);
  const StepProblem outline = contracted(whole, scope);
  CHECK(fewest_steps(outline) <= fewest);
  const auto compare = [&](std::optional<std::uint32_t> steps) {
    CHECK(least_rounds(outline, automorphisms(outline), steps, unlimited) <=
          least_rounds(whole, automorphisms(whole), steps, unlimited));
  };
  compare(std::nullopt);
  for (std::uint32_t steps = fewest; steps < fewest + 3; ++steps) compare(steps);
  return scope.lanes.size() < whole.network.lanes.size();
}

} // namespace

TEST_CASE("no node outside of its scope matters to a k-synchronous schedule") {
  std::uint32_t decided = 0, outlines = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    const StepCase asked = random_step_case(seed);
    const StepProblem whole = step_problem(asked.topology, asked.collective, false);
    if (fewest_steps(whole) == unreachable || fewest_steps(whole) == 0) continue;
    decided += compare_schedules(whole);
    outlines += compare_bounds(whole) ? 1 : 0;
  }
  CHECK(decided > 50);
  CHECK(outlines > 25);
}

TEST_CASE("sccl among nodes that nothing reaches") {
  TopologyParts parts;
  for (const char* name : {"npu0", "npu1", "npu2"}) parts.add_node({name, NodeKind::npu, {}, {}});
  parts.add_duplex({NodeId{0}, NodeId{1}, Time{1000}, Bandwidth{1'000'000'000}, -1});
  const Topology topology(std::move(parts));
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_reduce}) {
    const Collective collective =
        make_collective(topology, {kind, Bytes{2000}, {NodeId{0}, NodeId{1}}});
    const Frontier frontier = synthesize_frontier(topology, collective, {}, {});
    CHECK(frontier.points.size() == 1);
    CHECK(frontier.complete);
  }
}

} // namespace scope_test
