// Programs move right data on threads; wrong programs are noticed, each by the kind of its defect;
// emulated links take the times of their network.

#include "runtime/executor.hpp"

#include "algorithms/list.hpp"
#include "runtime/lowering/lowering.hpp"
#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/hand_programs.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <string>

namespace cpu_executor_test {

using namespace tutti;
using namespace tutti::runtime;

namespace {

ExecutionRequest request_of(std::int64_t bytes) {
  ExecutionRequest request;
  request.size = Bytes{bytes};
  request.repetitions = 3;
  return request;
}

void check_right(const Program& program, const ExecutionRequest& request, std::uint64_t elements) {
  const Execution execution = run_on_cpu(program, request);
  CHECK(execution.seconds.size() == request.repetitions);
  CHECK(execution.check.checked == elements);
  CHECK(execution.check.wrong == 0);
}

std::string hang_of(const Program& program, const ExecutionRequest& request) {
  try {
    (void)run_on_cpu(program, request);
  } catch (const HungRun& e) {
    return e.what();
  }
  return "";
}

} // namespace

TEST_CASE("programs on threads move every element, of every type, in place and not") {
  for (const ElementType type :
       {ElementType::float32, ElementType::float64, ElementType::int32, ElementType::uint8})
    for (const Combine combine : {Combine::sum, Combine::max})
      for (const bool in_place : {false, true})
        for (const bool copy_per_step : {false, true}) {
          CAPTURE(to_text(type), to_text(combine), in_place, copy_per_step);
          ExecutionRequest request = request_of(1 << 16);
          request.type = type;
          request.combine = combine;
          request.copy_per_step = copy_per_step;
          const std::uint64_t elements = 4 * (1U << 16) / element_size(type);
          check_right(ring_all_gather(4, in_place), request, elements);
          check_right(ring_all_reduce(4, in_place), request, elements);
        }
}

TEST_CASE("lowered schedules of every collective run on threads, in place and not") {
  const std::string network = GENERATE("ring:2", "ring:3", "mesh2d:2x2");
  const Topology topology = make_topology(network);
  std::size_t runs = 0;
  for (const CollectiveKind kind : named_collectives())
    for (const AlgorithmRow& row : baseline_algorithms()) {
      if (std::ranges::find(row.collectives, kind) == row.collectives.end()) continue;
      const Collective collective = make_collective(
          topology,
          {kind, Bytes{3 * 4096}, {}, has_root(kind) ? 1U : 0U, std::max(2U, row.chunk_multiple)});
      const Outcome outcome = synthesize(row, topology, collective, {});
      if (!outcome.schedule) continue;
      for (const bool in_place : {false, true})
        for (const bool share : {false, true}) {
          if (in_place && !can_be_in_place(collective)) continue;
          CAPTURE(network, collective.name(), row.name, in_place, share);
          const Program program =
              lower(topology, collective, *outcome.schedule, {"x", 1, 32, in_place, true, share});
          const Execution execution = run_on_cpu(program, request_of(3 * 4096));
          CHECK(execution.check.checked > 0);
          CHECK(execution.check.wrong == 0);
          ++runs;
        }
    }
  CHECK(runs > 50);
}

TEST_CASE("units of a byte, one slot, many messages") {
  ExecutionRequest request = request_of(64);
  request.type = ElementType::uint8;
  request.plan.slots = 1;
  request.repetitions = 50;
  check_right(chain_broadcast(5, 64), request, 5 * 64);
  request.plan.one_by_one = true;
  check_right(chain_broadcast(5, 64), request, 5 * 64);
  request.plan = {.slots = 2}; // with one, all would wait for the next to receive
  request.size = Bytes{9};
  check_right(ring_all_reduce(9, true), request, 9 * 9);
}

TEST_CASE("more threads than cores") {
  ExecutionRequest request = request_of(64 * 64 * 4);
  check_right(ring_all_reduce(64, false), request, 64 * 64 * 64);
}

TEST_CASE("bytes moved are those of all connections") {
  CHECK(run_on_cpu(ring_all_gather(4, true), request_of(4096)).bytes_moved == 4 * 3 * 1024);
  CHECK(run_on_cpu(ring_all_reduce(4, true), request_of(4096)).bytes_moved == 4 * 6 * 1024);
}

TEST_CASE("the data check sees a step that writes elsewhere") {
  Program program = ring_all_gather(4, false);
  std::vector<Step>& steps = program.ranks[2].blocks[0].steps;
  std::swap(steps[1].target, steps[2].target);
  const DataCheck check = run_on_cpu(program, request_of(1 << 14)).check;
  CHECK(check.wrong > 0);
  REQUIRE(check.first);
  CHECK(check.first->npu == 2);
}

TEST_CASE("the data check sees a contribution that is left out, or counted twice") {
  Program program = ring_all_reduce(4, false);
  program.ranks[3].blocks[0].steps[1].source.unit = 3; // its own 3 goes into the sum of 2
  const DataCheck check = run_on_cpu(program, request_of(1 << 14)).check;
  CHECK(check.wrong > 0);
}

TEST_CASE("the data check sees a missing dependency") {
  Program program = chain_broadcast(4, 1);
  ExecutionRequest request = request_of(1 << 14);
  request.copy_per_step = true; // in the order of blocks where nothing waits: no race
  CHECK(run_on_cpu(program, request).check.wrong == 0);
  program.ranks[2].blocks[0].steps[0].after.reset();
  const DataCheck check = run_on_cpu(program, request).check;
  CHECK(check.wrong == (1U << 14) / 4);
  CHECK(check.first->npu == 3);
}

TEST_CASE("an element that nobody writes is wrong") {
  Program program = ring_all_gather(4, false);
  program.ranks[1].blocks.pop_back(); // its own copy
  CHECK(run_on_cpu(program, request_of(1 << 14)).check.wrong == (1U << 14) / 4 / 4);
}

TEST_CASE("a hung run is ended, and its waits are named") {
  ExecutionRequest request = request_of(1 << 12);
  request.watchdog_seconds = 0.3;
  Program program = chain_broadcast(3, 2);
  program.ranks[1].blocks[0].steps.pop_back(); // the second part isn't sent on
  for (const bool copy_per_step : {false, true}) {
    request.copy_per_step = copy_per_step;
    const std::string text = hang_of(program, request);
    CHECK(text == "the run hangs: rank 2, block 1, step 1 (r) waits for message 1 from rank 1 on "
                  "channel 0");
  }
  Program cycle = chain_broadcast(2, 2);
  std::vector<Step>& sends = cycle.ranks[0].blocks[0].steps;
  std::vector<Step>& copies = cycle.ranks[0].blocks[1].steps;
  sends[1].after = StepAt{1, 0};
  copies[0].after = StepAt{0, 1};
  request.copy_per_step = false;
  const std::string text = hang_of(cycle, request);
  CHECK_THAT(text, ContainsSubstring("rank 0, block 0, step 1 (s) waits for step 0 of block 1"));
  CHECK_THAT(text, ContainsSubstring("rank 0, block 1, step 0 (cpy) waits for step 1 of block 0"));
  CHECK_THAT(text,
             ContainsSubstring("rank 1, block 1, step 1 (r) waits for message 1 from rank 0"));
}

TEST_CASE("a sender without a free slot hangs by name") {
  const Program program = ring_all_reduce(3, true);
  ExecutionRequest request = request_of(3 << 10);
  request.watchdog_seconds = 0.2;
  request.plan.slots = 1; // which all have filled, before any can receive and send
  CHECK_THAT(hang_of(program, request),
             ContainsSubstring("rank 0, block 0, step 1 (rrs) waits for a free slot at rank 1"));
}

TEST_CASE("executions that can't be are refused") {
  const Program program = ring_all_gather(4, false);
  CHECK_THAT(message_of([&] { (void)run_on_cpu(program, request_of(1000)); }),
             ContainsSubstring("1008 bytes"));
  ExecutionRequest request = request_of(1024);
  request.repetitions = 0;
  CHECK_THROWS_AS(run_on_cpu(program, request), InputError);
  CHECK_THAT(message_of([&] { (void)run_on_cpu(program, request_of(std::int64_t{1} << 50)); }),
             ContainsSubstring("three quarters of this machine's"));
  Program blocks = program;
  blocks.ranks[0].blocks.resize(5000);
  CHECK_THAT(message_of([&] { (void)run_on_cpu(blocks, request_of(1024)); }),
             ContainsSubstring("5006 blocks"));
  const Topology line = line_network(4, Time{0}, Bandwidth{1});
  request = request_of(1024);
  request.copy_per_step = true;
  request.plan.emulated = &line;
  CHECK_THROWS_AS(run_on_cpu(program, request), InputError);
}

TEST_CASE("a message over an emulated link takes alpha and beta") {
  const Topology line = line_network(3, Time{1'000'000'000}, Bandwidth{10'000'000});
  ExecutionRequest request = request_of(1'000'000);
  request.plan.emulated = &line;
  request.repetitions = 2;
  const Execution one = run_on_cpu(chain_broadcast(2, 1), request);
  CHECK(one.check.wrong == 0);
  CHECK(*std::ranges::min_element(one.seconds) >= 0.101); // never faster than the link
  // A second hop; twenty parts overlap: 21 * 5 ms + 2 ms.
  const Execution parts = run_on_cpu(chain_broadcast(3, 20), request);
  CHECK(parts.check.wrong == 0);
  CHECK(*std::ranges::min_element(parts.seconds) >= 0.107);
}

TEST_CASE("on a machine that isn't busy, emulated links take hardly more than they should",
          "[slow]") {
  const Topology line = line_network(3, Time{1'000'000'000}, Bandwidth{10'000'000});
  ExecutionRequest request = request_of(1'000'000);
  request.plan.emulated = &line;
  request.repetitions = 5; // of which the least is taken
  const auto least = [&](const Program& program) {
    return std::ranges::min(run_on_cpu(program, request).seconds);
  };
  CHECK(least(chain_broadcast(2, 1)) < 0.2);
  CHECK(least(chain_broadcast(3, 20)) < 0.19); // 0.202 where they don't overlap
}

TEST_CASE("links of a shared group take turns") {
  TopologyParts parts = line_network(3, Time{0}, Bandwidth{10'000'000}).parts();
  parts.groups.push_back({"bus", {LinkId{0}, LinkId{2}}, Bandwidth{10'000'000}});
  const Topology line(std::move(parts));
  ExecutionRequest request = request_of(500'000);
  request.plan.emulated = &line;
  // 50 ms on each link; the bus carries both: 100 ms, without it 55 ms.
  const Execution execution = run_on_cpu(chain_broadcast(3, 10), request);
  CHECK(execution.check.wrong == 0);
  CHECK(*std::ranges::min_element(execution.seconds) >= 0.1);
}

TEST_CASE("one by one, each message waits for the one before to arrive") {
  const Topology line = line_network(2, Time{10'000'000'000}, Bandwidth{1'000'000'000});
  ExecutionRequest request = request_of(8'000);
  request.plan.emulated = &line;
  const auto fastest = [&] {
    const Execution execution = run_on_cpu(chain_broadcast(2, 8), request);
    CHECK(execution.check.wrong == 0);
    return *std::ranges::min_element(execution.seconds);
  };
  CHECK(fastest() >= 0.010);
  request.plan.one_by_one = true;
  CHECK(fastest() >= 0.080);
}

TEST_CASE("a slow link is no hung run") {
  const Topology line = line_network(2, Time{500'000'000'000}, Bandwidth{1'000'000'000});
  ExecutionRequest request = request_of(1'000);
  request.plan.emulated = &line;
  request.watchdog_seconds = 0.1;
  request.warmups = 0;
  request.repetitions = 1;
  CHECK(run_on_cpu(chain_broadcast(2, 1), request).check.wrong == 0);
}

TEST_CASE("the median of timings") {
  Execution execution;
  execution.seconds = {5, 1, 3};
  CHECK(execution.median_seconds() == 3);
  execution.seconds = {4, 1, 2, 30};
  CHECK(execution.median_seconds() == 3);
}

} // namespace cpu_executor_test
