// How long the merged flow program takes for 128 DGX A100 servers, 1,024 GPUs: its time is that of
// finding symmetries, next to none that of solving. `columns` says how much they merge.

#include "synth/flows/fluid/program.hpp"
#include "topologies/list.hpp"

#include <benchmark/benchmark.h>

#include <stdexcept>
#include <string>

namespace {

using namespace tutti;

void flow_program(benchmark::State& state, const std::string& topology_text, CollectiveKind kind) {
  const Topology topology = make_topology(topology_text);
  CollectiveSpec spec;
  spec.kind = kind;
  const FlowProblem problem = flow_problem(topology, make_collective(topology, spec));
  const SynthesisOptions no_limit;
  FlowProgramAnswer answer;
  for (auto _ : state) {
    answer = solve_flow_program(problem, {}, WorkLimit(no_limit));
    if (answer.status != SolverStatus::optimal) throw std::runtime_error("not solved");
  }
  state.counters["columns"] = static_cast<double>(answer.columns);
}

BENCHMARK_CAPTURE(flow_program, all_gather_nvlink_1024, "dgx_a100_rail:128,links=nvlink",
                  CollectiveKind::all_gather)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(flow_program, all_gather_1024, "dgx_a100_rail:128", CollectiveKind::all_gather)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(flow_program, all_reduce_1024, "dgx_a100_rail:128", CollectiveKind::all_reduce)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(flow_program, all_to_all_1024, "dgx_a100_rail:128", CollectiveKind::all_to_all)
    ->Unit(benchmark::kMillisecond);

} // namespace
