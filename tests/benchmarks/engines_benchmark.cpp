// Speed of the engines and of verify, in link transfers per second (Google Benchmark's
// items_per_second). The cases are those for which other simulators' figures are known.

#include "algorithms/list.hpp"
#include "sim/engines/engine.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "sim/verify_compact.hpp"
#include "synth/list.hpp"
#include "synth/scheduling/link_dispatch.hpp"
#include "topologies/list.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using namespace tutti;

struct Case {
  Topology topology;
  Collective collective;
  Schedule schedule;
};

Case make_case(const char* topology_text, CollectiveKind kind, std::uint32_t chunks_per_shard,
               SynthesisFunction algorithm) {
  const Topology topology = make_topology(topology_text);
  CollectiveSpec spec;
  spec.kind = kind;
  spec.chunks_per_shard = chunks_per_shard;
  Collective collective = make_collective(topology, spec);
  Outcome outcome = algorithm(topology, collective, {});
  if (!outcome.schedule) throw std::runtime_error(outcome.note);
  return {topology, std::move(collective), std::move(*outcome.schedule)};
}

void replay(benchmark::State& state, const Case& c, EngineFunction engine,
            const RunOptions& options = {}) {
  std::uint64_t crossings = 0;
  for (auto _ : state)
    crossings += engine(c.topology, c.collective, c.schedule, {}, options).link_transfers;
  state.SetItemsProcessed(static_cast<std::int64_t>(crossings));
  state.counters["transfers"] = static_cast<double>(c.schedule.size());
}

void native_ring_all_gather(benchmark::State& state) {
  replay(state, make_case("ring:64", CollectiveKind::all_gather, 128, ring_unidirectional),
         run_native);
}

/// The same by the core for networks that change, without anything that happens.
void native_ring_all_gather_dynamic(benchmark::State& state) {
  RunOptions options;
  options.may_halt = true;
  replay(state, make_case("ring:64", CollectiveKind::all_gather, 128, ring_unidirectional),
         run_native, options);
}

/// The same by the dispatch of list scheduling, with the list's order as keys.
void dispatch_ring_all_gather(benchmark::State& state) {
  const Case c = make_case("ring:64", CollectiveKind::all_gather, 128, ring_unidirectional);
  TransferPrecedence precedence(c.topology, c.collective.chunks.size(), c.schedule);
  for (std::uint32_t i = 0; i < precedence.size(); ++i) precedence.set_key(i, i);
  for (auto _ : state)
    if (dispatched(c.topology, c.collective, c.schedule, {}, precedence).order.empty())
      state.SkipWithError("nothing was dispatched");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(c.schedule.size()));
}

/// 50 links go down, one after another, each for a hundredth of the run.
std::vector<NetworkEvent> interruptions(const Case& c) {
  const std::int64_t whole = run_native(c.topology, c.collective, c.schedule, {}).completion.ps;
  std::vector<NetworkEvent> events;
  for (std::uint32_t k = 0; k < 50; ++k) {
    const LinkId link{7 * k % c.topology.link_count()};
    const std::int64_t at = whole * k / 60;
    events.push_back({Time{at}, NetworkEvent::Kind::link_down, link});
    events.push_back({Time{at + whole / 100}, NetworkEvent::Kind::link_up, link});
  }
  return sorted_events(c.topology, events);
}

/// To be held against native_ring_all_gather_dynamic: at most 1.2 times as long.
void native_ring_all_gather_100_events(benchmark::State& state) {
  const Case c = make_case("ring:64", CollectiveKind::all_gather, 128, ring_unidirectional);
  const std::vector<NetworkEvent> events = interruptions(c);
  RunOptions options;
  options.events = events;
  replay(state, c, run_native, options);
}

void native_ring_all_to_all_100_events(benchmark::State& state) {
  const Case c = make_case("ring:64", CollectiveKind::all_to_all, 16, direct);
  const std::vector<NetworkEvent> events = interruptions(c);
  RunOptions options;
  options.events = events;
  replay(state, c, run_native, options);
}

/// Two of half the size at once, one of them with a higher priority.
void native_ring_all_gather_two_jobs(benchmark::State& state) {
  const Case half = make_case("ring:64", CollectiveKind::all_gather, 64, ring_unidirectional);
  const std::vector<Collective> twice{half.collective, half.collective};
  Case both{half.topology, merge(twice), Schedule(half.topology.link_count())};
  const auto chunks = static_cast<std::uint32_t>(half.collective.chunks.size());
  for (std::uint32_t job = 0; job < 2; ++job)
    for (std::size_t i = 0; i < half.schedule.size(); ++i) {
      Transfer transfer = half.schedule[i]; // over single links: paths have the same ids
      transfer.chunk.value += job * chunks;
      both.schedule.push(transfer);
    }
  const std::vector<JobTiming> jobs{{{}, 0}, {{}, 1}};
  RunOptions options;
  options.jobs = jobs;
  replay(state, both, run_native, options);
}

void native_ring_all_gather_compact(benchmark::State& state) {
  const Case c = make_case("ring:64", CollectiveKind::all_gather, 128, ring_unidirectional);
  const CompactSchedule compact = compacted(c.topology, c.collective, c.schedule).value();
  std::uint64_t crossings = 0;
  for (auto _ : state)
    crossings += run_native_compact(c.topology, c.collective, compact, {}).link_transfers;
  state.SetItemsProcessed(static_cast<std::int64_t>(crossings));
}

void native_ring_all_gather_compact_expanded(benchmark::State& state) {
  const Case c = make_case("ring:64", CollectiveKind::all_gather, 128, ring_unidirectional);
  const CompactSchedule compact = compacted(c.topology, c.collective, c.schedule).value();
  std::uint64_t crossings = 0;
  for (auto _ : state)
    crossings +=
        run_native(c.topology, c.collective, expanded(c.topology, c.collective, compact), {})
            .link_transfers;
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

/// 1 to 2 million transfers by TACOS; `by_events`: to be held against.
void native_mesh(benchmark::State& state, CollectiveKind kind, bool by_events) {
  RunOptions options;
  options.may_halt = by_events;
  replay(state, make_case("mesh2d:32x32", kind, 1, tacos), run_native, options);
}

/// 5.3 million crossings.
void native_mesh_all_to_all(benchmark::State& state) {
  replay(state, make_case("mesh2d:24x24", CollectiveKind::all_to_all, 1, direct), run_native);
}

void simgrid_ring_all_reduce(benchmark::State& state) {
  replay(state, make_case("ring:64", CollectiveKind::all_reduce, 124, ring_unidirectional),
         run_simgrid);
}

void simgrid_mesh_all_to_all(benchmark::State& state) {
  replay(state, make_case("mesh2d:8x8", CollectiveKind::all_to_all, 25, direct), run_simgrid);
}

/// The same where all links out of a node share bandwidth, wider than a link and narrower than two.
void simgrid_mesh_all_to_all_shared(benchmark::State& state) {
  Case c = make_case("mesh2d:8x8", CollectiveKind::all_to_all, 25, direct);
  TopologyParts parts = c.topology.parts();
  for (std::uint32_t n = 0; n < c.topology.node_count(); ++n) {
    const auto out = c.topology.out_links(NodeId{n});
    const Bandwidth one = c.topology.link(out.front()).bandwidth;
    parts.groups.push_back({parts.nodes[n].name, {out.begin(), out.end()}, one});
    parts.groups.back().bandwidth.bytes_per_second += one.bytes_per_second / 2;
  }
  c.topology = Topology(std::move(parts));
  replay(state, c, run_simgrid);
}

void verify_copies(benchmark::State& state) {
  const Case c = make_case("ring:64", CollectiveKind::all_gather, 256, ring_unidirectional);
  for (auto _ : state)
    if (!verify(c.topology, c.collective, c.schedule).correct()) state.SkipWithError("fault");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(c.schedule.size()));
}

/// `performed`: on sets of contributions, to be held against what is proven by counts.
void verify_mesh(benchmark::State& state, CollectiveKind kind, bool performed) {
  Case c = make_case("mesh2d:32x32", kind, 1, tacos);
  if (performed) c.schedule.add_dependency(c.schedule.size() - 1, {0, Milestone::arrived});
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
BENCHMARK(native_ring_all_gather_dynamic)->Unit(benchmark::kMillisecond);
BENCHMARK(dispatch_ring_all_gather)->Unit(benchmark::kMillisecond);
BENCHMARK(native_ring_all_gather_100_events)->Unit(benchmark::kMillisecond);
BENCHMARK(native_ring_all_to_all_100_events)->Unit(benchmark::kMillisecond);
BENCHMARK(native_ring_all_gather_two_jobs)->Unit(benchmark::kMillisecond);
BENCHMARK(native_ring_all_gather_compact)->Unit(benchmark::kMillisecond);
BENCHMARK(native_ring_all_gather_compact_expanded)->Unit(benchmark::kMillisecond);
BENCHMARK(native_direct_all_to_all_unequal)->Unit(benchmark::kMillisecond);
BENCHMARK(native_ring_all_to_all)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(native_mesh, all_gather, CollectiveKind::all_gather, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(native_mesh, all_gather_by_events, CollectiveKind::all_gather, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(native_mesh, all_reduce, CollectiveKind::all_reduce, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(native_mesh, all_reduce_by_events, CollectiveKind::all_reduce, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(native_mesh_all_to_all)->Unit(benchmark::kMillisecond);
BENCHMARK(simgrid_ring_all_reduce)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(simgrid_mesh_all_to_all)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(simgrid_mesh_all_to_all_shared)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(verify_copies)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_mesh, all_gather, CollectiveKind::all_gather, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_mesh, all_gather_performed, CollectiveKind::all_gather, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_mesh, all_reduce, CollectiveKind::all_reduce, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_mesh, all_reduce_performed, CollectiveKind::all_reduce, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(verify_compact_copies)->Unit(benchmark::kMillisecond);

} // namespace
