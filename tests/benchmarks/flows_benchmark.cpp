// Speed of what finds optimal flows, on the clusters and tori of which papers say how long they
// take.

#include "synth/flows/fluid/symmetry.hpp"
#include "tests/synth/flows/samples.hpp"
#include "topologies/list.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>

namespace {

using namespace tutti;

FlowProblem all_gather(const Topology& topology) {
  CollectiveSpec spec;
  spec.kind = CollectiveKind::all_gather;
  return flow_problem(topology, make_collective(topology, spec));
}

/// `elements`: of the group found; as many as NPUs where it is regular.
void symmetry(benchmark::State& state, const Topology& topology) {
  const FlowProblem problem = all_gather(topology);
  std::size_t elements = 0;
  for (auto _ : state) elements = free_flow_symmetry(problem, flow_automorphisms(problem)).size();
  state.counters["elements"] = static_cast<double>(elements);
}

void symmetry_of_dgx_a100(benchmark::State& state, samples::DgxLinks links) {
  symmetry(state, samples::dgx_a100(static_cast<std::uint32_t>(state.range(0)), links));
}
BENCHMARK_CAPTURE(symmetry_of_dgx_a100, nvlink, samples::DgxLinks::nvlink)
    ->Arg(32)
    ->Arg(128)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(symmetry_of_dgx_a100, all_links, samples::DgxLinks::both)
    ->Arg(32)
    ->Arg(128)
    ->Unit(benchmark::kMillisecond);

void symmetry_of_family(benchmark::State& state, const char* text) {
  symmetry(state, make_topology(text));
}
BENCHMARK_CAPTURE(symmetry_of_family, torus_16x16, "torus2d:16x16")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(symmetry_of_family, torus_32x32, "torus2d:32x32")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(symmetry_of_family, hypercube_10, "hypercube:10")->Unit(benchmark::kMillisecond);

} // namespace
