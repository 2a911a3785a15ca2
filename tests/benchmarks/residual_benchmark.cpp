// Synthesis anew in the middle of a collective: a torus of 1,024 NPUs loses ten cables, and what is
// left to do is planned on the rest, on one core. `gap` is the time over the lower bound.

#include "sim/engines/engine.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/list.hpp"
#include "tests/interrupted.hpp"
#include "topologies/list.hpp"

#include <benchmark/benchmark.h>

#include <stdexcept>

namespace {

using namespace tutti;

const AlgorithmRow& tacos_row() { return synthesizers().front(); }

/// At so many percent of the undisturbed time.
void anew(benchmark::State& state, CollectiveKind kind, int percent) {
  const Topology topology = make_topology("torus2d:32x32");
  CollectiveSpec spec;
  spec.kind = kind;
  spec.size = Bytes{std::int64_t{topology.npu_count()} << 20};
  const Collective collective = make_collective(topology, spec);
  const SynthesisOptions options;
  const Outcome whole = synthesize(tacos_row(), topology, collective, options);
  const std::optional<Collective> rest =
      samples::interrupted(topology, collective, *whole.schedule, options.model, percent / 100.0);
  const Topology left = samples::without_cables(topology, 10, 7);
  std::int64_t transfers = 0;
  Outcome outcome;
  for (auto _ : state) {
    outcome = synthesize(tacos_row(), left, rest.value(), options);
    if (!outcome.schedule) throw std::runtime_error(outcome.note);
    transfers += static_cast<std::int64_t>(outcome.schedule->size());
  }
  state.SetItemsProcessed(transfers);
  const Time time = run_native(left, *rest, *outcome.schedule, options.model).completion;
  state.counters["gap"] =
      static_cast<double>(time.ps) /
      static_cast<double>(lower_bound(left, *rest, options.model, Chunking::given).time.ps);
}
BENCHMARK_CAPTURE(anew, all_gather_at_50, CollectiveKind::all_gather, 50)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(anew, reduce_scatter_at_50, CollectiveKind::reduce_scatter, 50)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(anew, all_reduce_at_25, CollectiveKind::all_reduce, 25)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(anew, all_reduce_at_50, CollectiveKind::all_reduce, 50)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(anew, all_reduce_at_75, CollectiveKind::all_reduce, 75)
    ->Unit(benchmark::kMillisecond);

} // namespace
