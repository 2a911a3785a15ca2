// Speed of iterations, in crossings of links or operations per second (Google Benchmark's
// items_per_second).

#include "algorithms/list.hpp"
#include "sim/iteration.hpp"
#include "synth/list.hpp"
#include "topologies/list.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using namespace tutti;

using Run = IterationReport (*)(const Topology&, const Workload&, const WorkloadPlans&,
                                const IterationOptions&);

/// Data parallel: `layers` computed forward, then backward, each with an All-Reduce of its
/// gradients; parameters as ResNet-50's, roughly.
Workload data_parallel(std::uint32_t npus, std::uint32_t layers, std::int64_t step) {
  Workload workload;
  workload.names = {"layer"};
  std::vector<NodeId>& all = workload.groups.emplace_back();
  for (std::uint32_t n = 0; n < npus; ++n) all.emplace_back(n);
  TrainingProgram& program = workload.programs.emplace_back();
  Operation operation;
  std::vector<std::uint32_t> after;
  for (std::uint32_t i = 0; i < 2 * layers; ++i) {
    operation = {};
    operation.amount = step;
    after.assign(1, program.add(operation, after));
    if (i < layers) continue;
    operation.kind = Operation::Kind::collective;
    operation.tag = i;
    operation.amount = 100'000 * (1 + (i * 7) % 40);
    program.add(operation, after);
  }
  for (std::uint32_t n = 0; n < npus; ++n) workload.places.push_back({0, {0}});
  return workload;
}

WorkloadPlans plan(const Topology& topology, const Workload& workload,
                   SynthesisFunction algorithm) {
  WorkloadPlans plans;
  plans.requests = requests_of(workload);
  for (const CommunicationRequest& request : plans.requests) {
    CollectiveSpec spec;
    spec.kind = request.kind;
    spec.size = request.size;
    spec.group = workload.groups[request.group];
    Collective collective = make_collective(topology, spec);
    Outcome outcome = algorithm(topology, collective, {});
    if (!outcome.schedule) throw std::runtime_error(outcome.note);
    PlacedPlan placed;
    placed.plan = std::make_shared<CommunicationPlan>(
        CommunicationPlan{std::move(collective), std::move(*outcome.schedule), "benchmark"});
    for (std::uint32_t l = 0; l < topology.link_count(); ++l) placed.links.emplace_back(l);
    for (std::uint32_t n = 0; n < topology.node_count(); ++n) placed.nodes.emplace_back(n);
    plans.plans.push_back(std::move(placed));
  }
  return plans;
}

void simulate(benchmark::State& state, SynthesisFunction algorithm, Run run, bool fold,
              std::int64_t step) {
  const Topology topology = make_topology("torus2d:16x16,bandwidth=50GB/s");
  const Workload workload = data_parallel(topology.npu_count(), 54, step);
  const WorkloadPlans plans = plan(topology, workload, algorithm);
  IterationOptions options;
  options.fold = fold;
  std::uint64_t crossings = 0;
  for (auto _ : state) crossings += run(topology, workload, plans, options).link_transfers;
  state.SetItemsProcessed(static_cast<std::int64_t>(crossings));
}

/// Layers whose communication overlaps: nothing can be folded.
constexpr std::int64_t short_steps = 20'000'000;

void iteration_ring(benchmark::State& state) {
  simulate(state, ring, run_iteration_native, true, short_steps);
}
void iteration_ring_unfolded(benchmark::State& state) {
  simulate(state, ring, run_iteration_native, false, short_steps);
}
void iteration_tacos_unfolded(benchmark::State& state) {
  simulate(state, tacos, run_iteration_native, false, short_steps);
}
void iteration_ring_apart(benchmark::State& state) {
  simulate(state, ring, run_iteration_native, true, 100'000'000'000);
}
void iteration_ring_simgrid(benchmark::State& state) {
  simulate(state, ring, run_iteration_simgrid, false, short_steps);
}

/// 1,024 NPUs in groups of 8 that compute and communicate in turn.
void iteration_operations(benchmark::State& state) {
  const Topology topology = make_topology("torus2d:128x8,bandwidth=400GB/s");
  Workload workload;
  workload.names = {"block"};
  TrainingProgram& program = workload.programs.emplace_back();
  std::vector<std::uint32_t> after;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    Operation operation;
    operation.amount = 1'000'000;
    after.assign(1, program.add(operation, after));
    operation.kind = Operation::Kind::collective;
    operation.purpose = Purpose::tensor;
    operation.tag = i;
    after.assign(1, program.add(operation, after));
  }
  for (std::uint32_t g = 0; g < 128; ++g) {
    std::vector<NodeId>& group = workload.groups.emplace_back();
    for (std::uint32_t m = 0; m < 8; ++m) group.emplace_back(8 * g + m);
    for (std::uint32_t m = 0; m < 8; ++m) workload.places.push_back({0, {g}});
  }
  const WorkloadPlans plans = plan(topology, workload, ring);
  std::uint64_t operations = 0;
  for (auto _ : state) operations += run_iteration_native(topology, workload, plans, {}).operations;
  state.SetItemsProcessed(static_cast<std::int64_t>(operations));
}

// SimGrid runs in a child process, so wall-clock time is what counts there.
BENCHMARK(iteration_ring)->Unit(benchmark::kMillisecond);
BENCHMARK(iteration_ring_unfolded)->Unit(benchmark::kMillisecond);
BENCHMARK(iteration_tacos_unfolded)->Unit(benchmark::kMillisecond);
BENCHMARK(iteration_ring_apart)->Unit(benchmark::kMillisecond);
BENCHMARK(iteration_ring_simgrid)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(iteration_operations)->Unit(benchmark::kMillisecond);

} // namespace
