// How long each algorithm works without asking whether its limit is reached: that is by how much it
// may exceed one. CPU seconds, of one thread, on 1,024 NPUs.
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/attempt.hpp"
#include "sim/collective.hpp"
#include "topologies/list.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace tutti {
namespace {

constexpr double limit_seconds = 2;

void work_on(benchmark::State& state, const AlgorithmRow& row, CollectiveKind kind,
             const std::string& network) {
  const Topology topology = make_topology(network);
  CollectiveSpec spec;
  spec.kind = kind;
  spec.size = Bytes{std::int64_t{1} << 30};
  spec.chunks_per_shard = row.chunk_multiple;
  const Collective collective = make_collective(topology, spec);
  double longest = 0, questions = 0;
  for (auto _ : state) {
    SynthesisOptions options;
    options.limit_seconds = limit_seconds;
    double last = cpu_seconds();
    const double begin = last;
    const auto ask = [&] {
      const double now = cpu_seconds();
      longest = std::max(longest, now - last);
      last = now;
      ++questions;
      return now - begin;
    };
    options.cancelled = [&] { return ask() > limit_seconds; };
    benchmark::DoNotOptimize(synthesize(row, topology, collective, options));
    (void)ask();
  }
  state.counters["silent_seconds"] = longest;
  state.counters["questions"] = questions;
}

const bool registered = [] {
  for (const std::string network : {"torus2d:32x32", "switch:1024", "dgx_h100:128"})
    for (const AlgorithmRow& row : all_algorithms())
      for (const CollectiveKind kind : row.collectives)
        if (kind != CollectiveKind::custom)
          benchmark::RegisterBenchmark(
              ("limits/" + network + "/" + std::string(row.name) + "/" + std::string(to_text(kind)))
                  .c_str(),
              [=](benchmark::State& state) { work_on(state, row, kind, network); })
              ->Iterations(1)
              ->Unit(benchmark::kSecond);
  return true;
}();

} // namespace
} // namespace tutti
