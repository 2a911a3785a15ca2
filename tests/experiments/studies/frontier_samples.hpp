// A frontier by hand, with numbers that paper gives: pipelined Broadcasts on a line of three NPUs.
//   npu0 -> npu1 -> npu2, p chunks: p + 1 steps of one round each.
// Where a link is busy for latency and data, n bytes take (p + 1) (alpha + n / p / B), alpha is
// 0.5 us and 1 / B is 20 ps: as the paper's cost model has it.
#pragma once

#include "experiments/driver/studies/frontiers/evaluation.hpp"
#include "tests/samples.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::samples {

inline Topology line() { return linked("line", 3, {{0, 1}, {1, 2}}); }

inline FrontierPoint pipeline(std::uint32_t chunks_per_shard) {
  Schedule schedule(2);
  for (std::uint32_t step = 0; step <= chunks_per_shard; ++step) {
    if (step < chunks_per_shard) schedule.push(ChunkId{step}, LinkId{0}, Op::copy);
    if (step > 0) schedule.push(ChunkId{step - 1}, LinkId{1}, Op::copy);
  }
  return {.chunks_per_shard = chunks_per_shard,
          .chunks = chunks_per_shard,
          .steps = chunks_per_shard + 1,
          .rounds = chunks_per_shard + 1,
          .proof = PointProof::lp_tight,
          .latency_optimal = chunks_per_shard == 1,
          .bandwidth_optimal = false,
          .least = Ratio(chunks_per_shard + 1, chunks_per_shard),
          .method = "by hand",
          .seconds = 0.25,
          .schedule = schedule};
}

/// The points of 1, 2 and 4 chunks. Of n bytes, the next one is better from n = 2 alpha B = 50 kB
/// on, and from 8 alpha B = 200 kB.
inline Frontier pipelines() {
  Frontier frontier;
  for (const std::uint32_t chunks_per_shard : {1U, 2U, 4U})
    frontier.points.push_back(pipeline(chunks_per_shard));
  frontier.trials = {{1, 2, 2, "sat", "by hand", 0.25}, {3, 3, 3, "unsat", "by hand", 0.5}};
  frontier.bandwidth_bound = Ratio(1);
  frontier.stop = "three points are enough";
  frontier.step_latency = alpha;
  frontier.round = bandwidth;
  return frontier;
}

inline FrontierCase line_case(const Topology& topology) {
  FrontierCase c{.label = "Line",
                 .topology_label = "line",
                 .topology = &topology,
                 .collective = "broadcast",
                 .sizes = {},
                 .options = {},
                 .engines = all_engines()};
  for (const std::int64_t size : {4'000, 40'000, 400'000, 4'000'000}) c.sizes.push_back({size});
  c.options.model.link_busy = LinkBusy::latency_and_serialization;
  return c;
}

} // namespace tutti::samples
