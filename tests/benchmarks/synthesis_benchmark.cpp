// Speed of synthesis on one core, in transfers per second (Google Benchmark's items_per_second):
// the cases for which the open TACOS or its paper says how long they take. Chunks of 1 MiB, links
// busy for latency and serialization, as there. `gap` is the planned time over the lower bound.

#include "sim/engines/engine.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/list.hpp"
#include "topologies/list.hpp"

#include <benchmark/benchmark.h>

#include <stdexcept>
#include <string>

namespace {

using namespace tutti;

constexpr const char* equal_links = ",bandwidth=50GiB/s,latency=0.5us";
constexpr const char* three_dimensions = ",bandwidth=200GiB/s+100GiB/s+50GiB/s,latency=0.5us";

void synthesis(benchmark::State& state, const std::string& topology_text, CollectiveKind kind) {
  const Topology topology = make_topology(topology_text);
  const std::int64_t npus = topology.npu_count();
  CollectiveSpec spec;
  spec.kind = kind;
  spec.size = Bytes{npus * (kind == CollectiveKind::all_to_all ? npus : 1) << 20};
  const Collective collective = make_collective(topology, spec);
  SynthesisOptions options;
  options.model.link_busy = LinkBusy::latency_and_serialization;
  std::int64_t transfers = 0;
  Outcome outcome;
  for (auto _ : state) {
    outcome = tacos(topology, collective, options);
    if (!outcome.schedule) throw std::runtime_error(outcome.note);
    transfers += static_cast<std::int64_t>(outcome.schedule->size());
  }
  state.SetItemsProcessed(transfers);
  const Time time = run_native(topology, collective, *outcome.schedule, options.model).completion;
  state.counters["gap"] =
      static_cast<double>(time.ps) /
      static_cast<double>(
          lower_bound(topology, collective, options.model, Chunking::given).time.ps);
}

void on_equal_links(benchmark::State& state, const char* topology) {
  synthesis(state, std::string(topology) + equal_links, CollectiveKind::all_gather);
}
BENCHMARK_CAPTURE(on_equal_links, mesh_16x16, "mesh2d:16x16")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(on_equal_links, mesh_32x32, "mesh2d:32x32")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(on_equal_links, mesh_64x64, "mesh2d:64x64")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(on_equal_links, grid_10x10x10, "mesh3d:10x10x10")->Unit(benchmark::kMillisecond);

void on_unequal_links(benchmark::State& state) {
  synthesis(state, "mesh2d:16x16,bandwidth=50GiB/s+75GiB/s,latency=0.5us",
            CollectiveKind::all_gather);
}
BENCHMARK(on_unequal_links)->Unit(benchmark::kMillisecond);

void on_switches(benchmark::State& state, const char* topology) {
  synthesis(state, std::string(topology) + three_dimensions, CollectiveKind::all_gather);
}
BENCHMARK_CAPTURE(on_switches, rfs_512, "rfs:2x4x64")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(on_switches, rfs_1024, "rfs:2x4x128")->Unit(benchmark::kMillisecond);

void all_to_all(benchmark::State& state, const std::string& topology) {
  synthesis(state, topology, CollectiveKind::all_to_all);
}
BENCHMARK_CAPTURE(all_to_all, torus_32x32, std::string("torus2d:32x32") + equal_links)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(all_to_all, torus_16x32, std::string("torus2d:16x32") + equal_links)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(all_to_all, rfs_512, std::string("rfs:2x4x64") + three_dimensions)
    ->Unit(benchmark::kMillisecond);

} // namespace
