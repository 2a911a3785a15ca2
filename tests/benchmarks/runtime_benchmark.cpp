// Speed of lowering and of the program checker, in transfers per second: All-Reduce of 64 NPUs with
// 64 chunks a shard.
#include "algorithms/list.hpp"
#include "runtime/checking/verify_program.hpp"
#include "runtime/lowering/lowering.hpp"
#include "topologies/list.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>

namespace {

using namespace tutti;

struct RingCase {
  Topology topology = make_topology("ring:64");
  Collective collective =
      make_collective(topology, {CollectiveKind::all_reduce, Bytes{1 << 30}, {}, 0, 64});
  Schedule schedule = *ring_unidirectional(topology, collective, {}).schedule;
};

void lower_ring(benchmark::State& state) {
  const RingCase c;
  for (auto _ : state) // NOLINT: Google Benchmark's way
    benchmark::DoNotOptimize(runtime::lower(c.topology, c.collective, c.schedule));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(c.schedule.size()));
}

void verify_ring_program(benchmark::State& state) {
  const RingCase c;
  const runtime::Program program = runtime::lower(c.topology, c.collective, c.schedule);
  for (auto _ : state) // NOLINT: as above
    if (!runtime::verify_program(program).correct()) state.SkipWithError("a fault");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(c.schedule.size()));
}

BENCHMARK(lower_ring)->Unit(benchmark::kMillisecond);
BENCHMARK(verify_ring_program)->Unit(benchmark::kMillisecond);

} // namespace
