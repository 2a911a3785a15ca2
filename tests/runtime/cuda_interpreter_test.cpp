// What the persistent kernel does, on CPU threads.
#include "algorithms/list.hpp"
#include "runtime/hung_run.hpp"
#include "runtime/lowering/lowering.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/host_machine.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace cuda_interpreter_test {

using namespace tutti;
using namespace tutti::runtime;

namespace {

struct Case {
  std::uint32_t instances = 1, slots = 4, threads = 1;
  std::size_t unit_bytes = 64;
};

template <typename T, Combine combine>
void check_runs(const Program& program, ElementType type, const Case& how) {
  PlanOptions options;
  options.slots = how.slots;
  const Plan plan = make_plan(program, how.unit_bytes, options);
  HostMemory memory(program, plan, type);
  interpret_on_host<T, combine>(plan, memory, how.threads);
  CHECK(waiting_steps(plan, memory.stopped()).empty());
  const DataCheck check = memory.check(combine);
  CHECK(check.checked > 0);
  CHECK(check.wrong == 0);
}

/// By every baseline that knows this collective on 4 NPUs.
template <typename T, Combine combine>
std::size_t check_baselines(CollectiveKind kind, ElementType type, const Case& how) {
  const Topology topology = make_topology("ring:4");
  std::size_t run = 0;
  for (const AlgorithmRow& row : baseline_algorithms()) {
    if (std::ranges::find(row.collectives, kind) == row.collectives.end()) continue;
    const Collective collective = make_collective(
        topology, {kind, Bytes{1 << 12}, {}, has_root(kind) ? 2U : 0U, row.chunk_multiple});
    const Outcome outcome = synthesize(row, topology, collective, {});
    if (!outcome.schedule) continue;
    INFO(row.name << " for " << collective.name());
    LoweringOptions options;
    options.instances = how.instances;
    check_runs<T, combine>(lower(topology, collective, *outcome.schedule, options), type, how);
    ++run;
  }
  return run;
}

/// A Broadcast of one unit from rank 0 to rank 1, without blocks.
Program two_ranks() {
  const Topology topology = make_topology("ring:2");
  CollectiveSpec spec{CollectiveKind::broadcast, Bytes{64}, {}, 0, 1};
  return empty_program(make_collective(topology, spec), 2, 1, false);
}

} // namespace

TEST_CASE("the kernel's interpreter performs what all baselines lower to") {
  constexpr auto f32 = ElementType::float32;
  std::size_t run = 0;
  for (const CollectiveKind kind : named_collectives())
    run += check_baselines<float, Combine::sum>(kind, f32, {});
  CHECK(run >= 20);
}

TEST_CASE("the kernel's interpreter with several threads, instances, one slot, odd sizes") {
  const auto all_reduce = CollectiveKind::all_reduce;
  CHECK(check_baselines<float, Combine::max>(all_reduce, ElementType::float32, {2, 1, 2, 36}) >= 2);
  CHECK(check_baselines<double, Combine::sum>(all_reduce, ElementType::float64, {1, 1, 3, 24}) >=
        2);
  CHECK(check_baselines<std::uint8_t, Combine::sum>(all_reduce, ElementType::uint8, {1, 2, 2, 7}) >=
        2);
  CHECK(check_baselines<std::int32_t, Combine::sum>(CollectiveKind::reduce_scatter,
                                                    ElementType::int32, {3, 1, 1, 1000}) >= 2);
}

TEST_CASE("a stopped run tells which steps wait, and for what") {
  Program program = two_ranks();
  Block sender{1U, std::nullopt, 0, {}};
  sender.steps.push_back({StepKind::send, {Buffer::input, 0}, {}, 1, StepAt{1, 0}});
  Block waiting{std::nullopt, 1U, 0, {}};
  waiting.steps.push_back({StepKind::receive, {}, {Buffer::output, 0}, 1, std::nullopt});
  Block receiver{std::nullopt, 0U, 0, {}};
  receiver.steps.push_back({StepKind::receive, {}, {Buffer::output, 0}, 1, std::nullopt});
  program.ranks[0].blocks = {sender, waiting};
  program.ranks[1].blocks = {receiver};
  const Plan plan = make_plan(program, 64);
  HostMemory memory(program, plan, ElementType::float32);
  interpret_on_host<float, Combine::sum>(plan, memory, 2, std::chrono::milliseconds(50));
  CHECK(waiting_steps(plan, memory.stopped()) ==
        "rank 0, block 0, step 0 (s) waits for step 0 of block 1; "
        "rank 0, block 1, step 0 (r) waits for message 0 from rank 1 on channel 0; "
        "rank 1, block 0, step 0 (r) waits for message 0 from rank 0 on channel 0");
  CHECK(memory.check(Combine::sum).wrong == 32); // both outputs still poisoned
}

TEST_CASE("a stopped run names full slots") {
  Program program = two_ranks();
  Block sender{1U, std::nullopt, 0, {}};
  sender.steps.assign(2, {StepKind::send, {Buffer::input, 0}, {}, 1, std::nullopt});
  program.ranks[0].blocks = {sender};
  PlanOptions options;
  options.slots = 1;
  const Plan plan = make_plan(program, 64, options);
  HostMemory memory(program, plan, ElementType::float32);
  interpret_on_host<float, Combine::sum>(plan, memory, 1, std::chrono::milliseconds(50));
  CHECK(waiting_steps(plan, memory.stopped()) ==
        "rank 0, block 0, step 1 (s) waits for a free slot at rank 1 on channel 0");
}

TEST_CASE("an emulated link holds a run for as long as its bytes need") {
  // 8 MB at 400 MB/s, and a latency of 5 ms: 25 ms by hand.
  const Topology topology = make_topology("ring:2,bandwidth=400MB/s,latency=5ms");
  const Collective collective =
      make_collective(topology, {CollectiveKind::broadcast, Bytes{8'000'000}, {}, 0, 8});
  const auto row = std::ranges::find(baseline_algorithms(), "direct", &AlgorithmRow::name);
  REQUIRE(row != baseline_algorithms().end());
  const Outcome outcome = synthesize(*row, topology, collective, {});
  REQUIRE(outcome.schedule);
  const Program program = lower(topology, collective, *outcome.schedule);
  PlanOptions options;
  options.emulated = &topology;
  const Plan plan = make_plan(program, 1'000'000, options);
  HostMemory memory(program, plan, ElementType::uint8);
  const auto begin = std::chrono::steady_clock::now();
  interpret_on_host<std::uint8_t, Combine::sum>(plan, memory, 1);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK(memory.check(Combine::sum).wrong == 0);
  CHECK(took.count() >= 0.025);
}

} // namespace cuda_interpreter_test
