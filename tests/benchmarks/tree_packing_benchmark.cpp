// Speed of tree packing for an All-Gather, from topology to trees. The clusters are those for which
// ForestColl's paper says how long its C++ needs (64, 128, 256 GPUs: 7.9, 39, 315 s).
// tutti_benchmarks --benchmark_filter=trees_on

#include "synth/flows/packing/packing.hpp"
#include "tests/synth/flows/samples.hpp"
#include "topologies/list.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <stdexcept>

namespace {

using namespace tutti;

void pack(benchmark::State& state, const Topology& topology) {
  CollectiveSpec spec;
  spec.kind = CollectiveKind::all_gather;
  spec.size = Bytes{std::int64_t{topology.npu_count()} << 20};
  const FlowProblem problem = flow_problem(topology, make_collective(topology, spec));
  const SynthesisOptions options;
  TreePacking packing;
  for (auto _ : state) packing = pack_trees(problem, WorkLimit(options));
  if (packing.solution.status != Status::optimal) throw std::runtime_error(packing.obstacle);
  state.counters["trees"] = static_cast<double>(packing.solution.trees.size());
}

void trees_on(benchmark::State& state, const char* topology) {
  pack(state, make_topology(topology));
}
BENCHMARK_CAPTURE(trees_on, torus_12x12, "torus2d:12x12")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(trees_on, hypercube_128, "hypercube:7")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(trees_on, rails_8x16, "multi_rail:8x16")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(trees_on, fat_tree_54, "fat_tree:6")->Unit(benchmark::kMillisecond);

void trees_on_dgx_a100(benchmark::State& state) {
  pack(state,
       samples::dgx_a100(static_cast<std::uint32_t>(state.range(0)), samples::DgxLinks::both));
}
BENCHMARK(trees_on_dgx_a100)->Arg(8)->Arg(16)->Arg(32)->Unit(benchmark::kMillisecond);

} // namespace
