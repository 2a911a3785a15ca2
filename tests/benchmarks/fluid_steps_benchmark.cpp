// Fluid schedules to steps on one core, in transfers per second (Google Benchmark's
// items_per_second), and what checks them. `load` is that of the fullest link, `time` that of the
// replay, both over the fluid schedule's.

#include "sim/engines/engine.hpp"
#include "synth/flows/fluid/check.hpp"
#include "synth/flows/rounding/fluid_steps.hpp"
#include "tests/synth/flows/fluid_samples.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <stdexcept>

namespace {

using namespace tutti;
using samples::FluidSample;

constexpr std::int64_t bytes = 1'000'000'000'000;

double fluid_seconds(const FluidSample& sample) {
  const FluidVerdict verdict = check_fluid(sample.problem, sample.trees);
  if (!verdict.fault.empty()) throw std::runtime_error(verdict.fault);
  return verdict.seconds;
}

void steps(benchmark::State& state, const FluidSample& sample) {
  std::int64_t transfers = 0;
  Schedule schedule(0);
  for (auto _ : state) {
    schedule = stepped(sample.topology, sample.collective, sample.problem, sample.trees);
    transfers += static_cast<std::int64_t>(schedule.size());
  }
  state.SetItemsProcessed(transfers);
  const double fluid = fluid_seconds(sample);
  const Report report = run_native(sample.topology, sample.collective, schedule, {});
  Time fullest;
  for (const LinkUse& use : report.links) fullest = std::max(fullest, use.busy);
  state.counters["load"] = static_cast<double>(fullest.ps) * 1e-12 / fluid;
  state.counters["time"] = static_cast<double>(report.completion.ps) * 1e-12 / fluid;
}

void on_torus(benchmark::State& state, CollectiveKind kind) {
  steps(state, samples::on_torus(static_cast<std::uint32_t>(state.range(0)), kind, bytes,
                                 static_cast<std::uint32_t>(state.range(1))));
}
BENCHMARK_CAPTURE(on_torus, all_gather, CollectiveKind::all_gather)
    ->Args({4, 5})
    ->Args({4, 64})
    ->Args({16, 1})
    ->Args({16, 8})
    ->Args({32, 4})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(on_torus, all_reduce, CollectiveKind::all_reduce)
    ->Args({4, 64})
    ->Args({32, 2})
    ->Unit(benchmark::kMillisecond);

void on_star(benchmark::State& state, CollectiveKind kind) {
  steps(state, samples::on_star(static_cast<std::uint32_t>(state.range(0)), kind, bytes,
                                static_cast<std::uint32_t>(state.range(1))));
}
BENCHMARK_CAPTURE(on_star, all_to_all, CollectiveKind::all_to_all)
    ->Args({8, 64})
    ->Args({1024, 4})
    ->Unit(benchmark::kMillisecond);

/// Three trees of 1,023 hops over four links each for each of 1,024 demands.
void check(benchmark::State& state) {
  TopologyParts parts = samples::npus("line of switches", 1024);
  const Abilities passes{false, false, false};
  const NodeId in = parts.add_node({"in", NodeKind::switching, passes, {}});
  const NodeId middle = parts.add_node({"middle", NodeKind::switching, passes, {}});
  const NodeId out = parts.add_node({"out", NodeKind::switching, passes, {}});
  parts.add_duplex(samples::link(in.value, middle.value));
  parts.add_duplex(samples::link(middle.value, out.value));
  for (std::uint32_t n = 0; n < 1024; ++n) {
    parts.add_link(samples::link(n, in.value));
    parts.add_link(samples::link(out.value, n));
  }
  const Topology topology(std::move(parts));
  FluidSample sample(topology,
                     samples::collective_on(topology, CollectiveKind::all_gather, bytes, 1));
  std::vector<std::uint32_t> to_in(1024), from_out(1024);
  for (std::uint32_t n = 0; n < 1024; ++n) {
    to_in[n] = samples::link_between(topology, n, in.value).value;
    from_out[n] = samples::link_between(topology, out.value, n).value;
  }
  const std::uint32_t first = samples::link_between(topology, in.value, middle.value).value,
                      second = samples::link_between(topology, middle.value, out.value).value;
  for (std::uint32_t d = 0; d < sample.problem.demands.size(); ++d)
    for (std::uint32_t way = 0; way < 3; ++way) {
      FlowTree& tree = sample.trees.emplace_back();
      tree.demand = d;
      tree.share = 1.0 / 3;
      tree.root = sample.problem.sources(sample.problem.demands[d]).front();
      for (std::uint32_t i = 1, at = tree.root; i < 1024; ++i) {
        const std::uint32_t to = (tree.root + i) % 1024;
        tree.add_hop(std::vector{to_in[at], first, second, from_out[to]});
        if (i % (way + 1) == 0) at = to;
      }
    }
  for (auto _ : state) benchmark::DoNotOptimize(fluid_seconds(sample));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * 3 * 1024 * 1023 * 4));
}
BENCHMARK(check)->Unit(benchmark::kMillisecond);

} // namespace
