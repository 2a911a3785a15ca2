// Schedules of all algorithms, lowered, run with data.
#include "runtime/executor.hpp"

#include "algorithms/list.hpp"
#include "runtime/lowering/lowering.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace execution_test {

using namespace tutti;
using namespace tutti::runtime;

namespace {

std::vector<AlgorithmRow> all_rows() {
  std::vector<AlgorithmRow> rows(baseline_algorithms().begin(), baseline_algorithms().end());
  rows.insert(rows.end(), synthesizers().begin(), synthesizers().end());
  return rows;
}

/// Runs what the algorithm makes for this collective on the topology, if it makes anything.
bool runs_right(const AlgorithmRow& row, const Topology& topology, CollectiveKind kind,
                ExecutionRequest request) {
  if (std::ranges::find(row.collectives, kind) == row.collectives.end()) return false;
  const Collective collective = make_collective(
      topology, {kind, Bytes{1 << 20}, {}, has_root(kind) ? 3U : 0U, row.chunk_multiple});
  SynthesisOptions options;
  options.limit_seconds = 3;
  const Outcome outcome = synthesize(row, topology, collective, options);
  if (!outcome.schedule) return false;
  const Program program = lower(topology, collective, *outcome.schedule);
  const std::uint64_t units = program.unit_count(); // all_to_all: more than the size's, a multiple
  request.size = Bytes{static_cast<std::int64_t>(units * element_size(request.type) * 24)};
  const Execution execution = run_on_cpu(program, request);
  INFO(row.name << " for " << collective.name() << " on " << topology.name());
  CHECK(execution.check.checked > 0);
  CHECK(execution.check.wrong == 0);
  return true;
}

std::size_t run_all(std::string_view topology_text, const ExecutionRequest& request) {
  const Topology topology = make_topology(topology_text);
  std::size_t run = 0;
  for (const CollectiveKind kind : named_collectives())
    for (const AlgorithmRow& row : all_rows())
      run += runs_right(row, topology, kind, request) ? 1U : 0U;
  return run;
}

ExecutionRequest short_request() {
  ExecutionRequest request;
  request.warmups = 0;
  request.repetitions = 2;
  return request;
}

} // namespace

TEST_CASE("all algorithms' schedules move the right data on 8 ranks", "[slow]") {
  CHECK(run_all("dgx1", short_request()) > 40);
  CHECK(run_all("mesh2d:2x4", short_request()) > 30);
  CHECK(run_all("ring:8", short_request()) > 30);
  CHECK(run_all("switch:8", short_request()) > 30);
}

TEST_CASE("integers by their maximum, with one slot and one copy for each step") {
  ExecutionRequest request = short_request();
  request.type = ElementType::int32;
  request.combine = Combine::max;
  for (const bool copy_per_step : {false, true}) {
    request.copy_per_step = copy_per_step;
    request.plan.slots = 1;
    for (const AlgorithmRow& row : baseline_algorithms())
      if (row.name == std::string_view("ring") || row.name == std::string_view("rhd") ||
          row.name == std::string_view("direct"))
        CHECK(runs_right(row, make_topology("dgx1"), CollectiveKind::all_reduce, request));
  }
}

} // namespace execution_test
