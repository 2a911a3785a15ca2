// The fluid optimum of an All-Gather, 1 GB from each GPU: DGX A100 clusters with and without their
// symmetries, with failed cables, and a random graph.
#include "sim/work_limit.hpp"
#include "synth/flows/fluid/optimum.hpp"
#include "topologies/list.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

namespace {

using namespace tutti;

void optimum_on(benchmark::State& state, const std::string& name, bool mirrored) {
  const Topology topology = make_topology(name);
  const Collective collective =
      make_collective(topology, {.kind = CollectiveKind::all_gather,
                                 .size = Bytes{topology.npu_count() * std::int64_t{1'000'000'000}},
                                 .group = {},
                                 .root = 0,
                                 .chunks_per_shard = 1});
  const FlowProblem problem = flow_problem(topology, collective);
  FluidOptions options;
  options.mirrored = mirrored;
  const SynthesisOptions no_limit;
  FluidSolution solution;
  for (auto _ : state) {
    solution = fluid_optimum(problem, options, WorkLimit(no_limit));
    benchmark::DoNotOptimize(solution);
  }
  state.counters["gap"] = solution.seconds / solution.bound_seconds - 1;
  state.counters["columns"] = static_cast<double>(solution.columns);
}

} // namespace

BENCHMARK_CAPTURE(optimum_on, dgx_a100_64, "dgx_a100_rail:8", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(optimum_on, dgx_a100_256, "dgx_a100_rail:32", true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(optimum_on, dgx_a100_1024, "dgx_a100_rail:128", true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(optimum_on, dgx_a100_64_not_mirrored, "dgx_a100_rail:8", false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(optimum_on, degraded_128, "dgx_a100_rail:16,fail-links=5%", true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(optimum_on, random_64, "random:64,degree=4,seed=1", true)
    ->Unit(benchmark::kMillisecond);
