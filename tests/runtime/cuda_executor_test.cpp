// On a GPU where there is one; elsewhere the cases say that they were left out, or with
// TUTTI_REQUIRE_GPU=1 fail: a driver that is too old is no reason to pass.
#include "algorithms/list.hpp"
#include "gpu/gpu_tests.hpp"
#include "runtime/executor.hpp"
#include "runtime/lowering/lowering.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

namespace cuda_executor_test {

using namespace tutti;
using namespace tutti::runtime;

namespace {

bool no_gpu() {
  const auto why = why_no_cuda();
  const char* required = std::getenv("TUTTI_REQUIRE_GPU");
  if (why && required != nullptr && std::string_view(required) == "1")
    FAIL("TUTTI_REQUIRE_GPU=1, but " << *why);
  if (why) WARN("left out: " << *why);
  return why.has_value();
}

Program program_of(const std::string& algorithm, const Topology& topology, CollectiveKind kind,
                   const LoweringOptions& options = {}) {
  const auto row = std::ranges::find(baseline_algorithms(), algorithm, &AlgorithmRow::name);
  REQUIRE(row != baseline_algorithms().end());
  const Collective collective = make_collective(
      topology, {kind, Bytes{1 << 20}, {}, has_root(kind) ? 2U : 0U, row->chunk_multiple});
  const Outcome outcome = synthesize(*row, topology, collective, {});
  REQUIRE(outcome.schedule);
  return lower(topology, collective, *outcome.schedule, options);
}

ExecutionRequest request_of(const Program& program, std::int64_t unit_bytes) {
  ExecutionRequest request;
  std::int64_t units = program.unit_count();
  if (program.collective.parts.front().kind == CollectiveKind::all_to_all)
    units /= static_cast<std::int64_t>(program.ranks.size());
  request.size = Bytes{units * unit_bytes};
  request.repetitions = 3;
  request.watchdog_seconds = 10;
  return request;
}

} // namespace

TEST_CASE("without CUDA its executor says so in a line") {
  const auto why = why_no_cuda();
  if (!why) return;
  CHECK(why->find('\n') == std::string::npos);
  const Program program = program_of("ring", make_topology("ring:4"), CollectiveKind::all_gather);
  CHECK(message_of([&] { (void)run_on_cuda(program, request_of(program, 64)); }) == *why);
  CHECK(message_of([] { (void)device_copy_rate(); }) == *why);
}

TEST_CASE("GPU: every baseline moves the right data, persistent and by copies") {
  if (no_gpu()) return;
  const Topology topology = make_topology("ring:8");
  for (const AlgorithmRow& row : baseline_algorithms())
    for (const CollectiveKind kind : row.collectives) {
      const Collective collective = make_collective(
          topology, {kind, Bytes{1 << 20}, {}, has_root(kind) ? 2U : 0U, row.chunk_multiple});
      const Outcome outcome = synthesize(row, topology, collective, {});
      if (!outcome.schedule) continue;
      const Program program = lower(topology, collective, *outcome.schedule);
      for (const bool copies : {false, true}) {
        INFO(row.name << " for " << collective.name() << (copies ? ", copies" : ""));
        ExecutionRequest request = request_of(program, 4096);
        request.copy_per_step = copies;
        const Execution execution = run_on_cuda(program, request);
        CHECK(execution.check.checked > 0);
        CHECK(execution.check.wrong == 0);
        CHECK(execution.seconds.size() == 3);
      }
    }
}

TEST_CASE("GPU: what tutti-gpu tests") {
  if (no_gpu()) return;
  for (const gpu::GpuTest& test : gpu::gpu_tests()) {
    INFO(test.name << ": " << test.expects);
    std::string words;
    try {
      test.run();
    } catch (const std::exception& error) {
      words = error.what();
    }
    CHECK(words == "");
  }
}

} // namespace cuda_executor_test
