// Speed of the engines and of verify, in link transfers per second (Google Benchmark's
// items_per_second). The cases are those for which other simulators' figures are known.

#include "algorithms/list.hpp"
#include "sim/engines/engine.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "topologies/list.hpp"

#include <benchmark/benchmark.h>

#include <stdexcept>

namespace {

using namespace tutti;

struct Case {
  Topology topology;
  Collective collective;
  Schedule schedule;
};

Case make_case(const char* topology_text, CollectiveKind kind, std::uint32_t pieces,
               SynthesisFunction algorithm) {
  const Topology topology = make_topology(topology_text);
  CollectiveSpec spec;
  spec.kind = kind;
  spec.pieces = pieces;
  Collective collective = make_collective(topology, spec);
  Outcome outcome = algorithm(topology, collective, {});
  if (!outcome.schedule) throw std::runtime_error(outcome.note);
  return {topology, std::move(collective), std::move(*outcome.schedule)};
}

void replay(benchmark::State& state, const Case& c, EngineFunction engine) {
  std::uint64_t crossings = 0;
  for (auto _ : state)
    crossings += engine(c.topology, c.collective, c.schedule, {}, {}).link_transfers;
  state.SetItemsProcessed(static_cast<std::int64_t>(crossings));
  state.counters["transfers"] = static_cast<double>(c.schedule.size());
}

void native_ring_all_gather(benchmark::State& state) {
  replay(state, make_case("ring:64", CollectiveKind::all_gather, 128, ring_unidirectional),
         run_native);
}

void native_ring_all_gather_compact(benchmark::State& state) {
  const Case c = make_case("ring:64", CollectiveKind::all_gather, 128, ring_unidirectional);
  const CompactSchedule compact = compacted(c.topology, c.collective, c.schedule).value();
  std::uint64_t crossings = 0;
  for (auto _ : state)
    crossings += run_native_compact(c.topology, c.collective, compact, {}).link_transfers;
  state.SetItemsProcessed(static_cast<std::int64_t>(crossings));
}

void native_direct_all_to_all_unequal(benchmark::State& state) {
  Case c = make_case("fully_connected:64", CollectiveKind::all_to_all, 16, direct);
  Random random(1);
  constexpr std::int64_t half_mib = 1 << 19;
  for (Chunk& chunk : c.collective.chunks)
    chunk.size = Bytes{half_mib + static_cast<std::int64_t>(random.below(2 * half_mib))};
  replay(state, c, run_native);
}

void native_ring_all_to_all(benchmark::State& state) {
  replay(state, make_case("ring:64", CollectiveKind::all_to_all, 16, direct), run_native);
}

void simgrid_ring_all_reduce(benchmark::State& state) {
  replay(state, make_case("ring:64", CollectiveKind::all_reduce, 124, ring_unidirectional),
         run_simgrid);
}

void simgrid_mesh_all_to_all(benchmark::State& state) {
  replay(state, make_case("mesh2d:8x8", CollectiveKind::all_to_all, 25, direct), run_simgrid);
}

void verify_copies(benchmark::State& state) {
  const Case c = make_case("ring:64", CollectiveKind::all_gather, 256, ring_unidirectional);
  for (auto _ : state)
    if (!verify(c.topology, c.collective, c.schedule).correct()) state.SkipWithError("fault");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(c.schedule.size()));
}

void verify_compact_copies(benchmark::State& state) {
  const Case c = make_case("ring:64", CollectiveKind::all_gather, 256, ring_unidirectional);
  const CompactSchedule compact = compacted(c.topology, c.collective, c.schedule).value();
  for (auto _ : state)
    if (!verify(c.topology, c.collective, compact).correct()) state.SkipWithError("fault");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(compact.size()));
}

// SimGrid runs in a child process, so wall-clock time is what counts there.
BENCHMARK(native_ring_all_gather)->Unit(benchmark::kMillisecond);
BENCHMARK(native_ring_all_gather_compact)->Unit(benchmark::kMillisecond);
BENCHMARK(native_direct_all_to_all_unequal)->Unit(benchmark::kMillisecond);
BENCHMARK(native_ring_all_to_all)->Unit(benchmark::kMillisecond);
BENCHMARK(simgrid_ring_all_reduce)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(simgrid_mesh_all_to_all)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(verify_copies)->Unit(benchmark::kMillisecond);
BENCHMARK(verify_compact_copies)->Unit(benchmark::kMillisecond);

} // namespace
