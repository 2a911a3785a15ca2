// No algorithm beats a bound, on networks with clusters, switches and groups.
#include "algorithms/list.hpp"
#include "sim/engines/engine.hpp"
#include "sim/random.hpp"
#include "sim/synthesizer.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/list.hpp"
#include "topologies/list.hpp"

#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tutti::algorithms_test {
namespace {

std::vector<AlgorithmRow> algorithms() {
  std::vector<AlgorithmRow> rows(baseline_algorithms().begin(), baseline_algorithms().end());
  for (const AlgorithmRow& row : synthesizers()) // these two are what teccl and taccl try, too
    if (row.name != "teccl_paper" && row.name != "taccl_paper") rows.push_back(row);
  return rows;
}

/// Clusters of 2 to 4 NPUs, in pairs or on a switch that stores or not, joined by some slower
/// links; sometimes what enters a cluster shares a bandwidth.
Topology random_clusters(Random& random) {
  TopologyParts parts;
  const std::uint32_t clusters = 2 + static_cast<std::uint32_t>(random.below(2)),
                      size = 2 + static_cast<std::uint32_t>(random.below(3));
  for (std::uint32_t n = 0; n < clusters * size; ++n)
    parts.add_node({"npu" + std::to_string(n), NodeKind::npu, {}, {}});
  const auto join = [&](std::uint32_t u, std::uint32_t v, std::uint64_t gigabytes) {
    parts.add_duplex(
        {NodeId{u}, NodeId{v}, Time{100 * static_cast<std::int64_t>(random.below(4))},
         Bandwidth{1'000'000'000 * (1 + static_cast<std::int64_t>(random.below(gigabytes)))}, -1});
  };
  for (std::uint32_t c = 0; c < clusters; ++c) {
    const std::uint32_t first = c * size;
    if (random.below(2) == 0) {
      const Abilities can{random.below(2) == 0, random.below(3) == 0, random.below(3) == 0};
      const NodeId hub =
          parts.add_node({"switch" + std::to_string(c), NodeKind::switching, can, {}});
      for (std::uint32_t n = 0; n < size; ++n) join(first + n, hub.value, 8);
    } else {
      for (std::uint32_t n = 0; n < size; ++n)
        for (std::uint32_t m = n + 1; m < size; ++m) join(first + n, first + m, 8);
    }
  }
  std::vector<SharedGroup> into(clusters);
  const auto cross = [&](std::uint32_t u, std::uint32_t v) {
    const auto link = static_cast<std::uint32_t>(parts.links.size());
    join(u, v, 2);
    into[v / size].links.emplace_back(link);
    into[u / size].links.emplace_back(link + 1);
  };
  for (std::uint32_t c = 0; c < clusters; ++c)
    for (std::uint32_t n = 0; n < size; ++n)
      if (n == 0 || random.below(2) == 0)
        cross(c * size + n,
              (c + 1) % clusters * size + static_cast<std::uint32_t>(random.below(size)));
  if (random.below(3) == 0)
    for (std::uint32_t c = 0; c < clusters; ++c) {
      into[c].name = "into" + std::to_string(c);
      into[c].bandwidth = Bandwidth{2'000'000'000};
      parts.groups.push_back(into[c]);
    }
  return Topology(std::move(parts));
}

struct BoundedCollective {
  Collective collective;
  std::vector<Bound> bounds;
};

BoundedCollective bounded(const Topology& topology, CollectiveKind kind,
                          std::uint32_t chunks_per_shard, const TimeModel& model, Random& random) {
  const std::int64_t shards = topology.npu_count() * std::max(1U, chunks_per_shard);
  const Bytes size{shards * (1000 + static_cast<std::int64_t>(random.below(50)))};
  CollectiveSpec spec{kind, size, {}, 0, chunks_per_shard};
  if (has_shares(kind)) spec.shares.words = fmt::format("{},zipf=1", to_text(kind));
  BoundedCollective made{make_collective(topology, spec), {}};
  made.bounds = lower_bounds(topology, made.collective, model, Chunking::given);
  return made;
}

/// sccl searches for long where many have little symmetry: only up to so many NPUs. teccl takes
/// minutes where links of many speeds make many epochs; tests/synth/teccl/teccl_test.cpp holds its
/// schedules against the bound.
void check_clusters(int rounds, std::uint32_t most_for_sccl) {
  Random random(17);
  int checked = 0, spreading = 0, reached = 0;
  for (int round = 0; round < rounds; ++round) {
    const Topology topology = random_clusters(random);
    TimeModel model;
    if (round % 2 == 1) model.link_busy = LinkBusy::latency_and_serialization;
    model.forwarding =
        std::vector{Forwarding::automatic, Forwarding::store_and_forward,
                    Forwarding::cut_through}[static_cast<std::size_t>(round / 2 % 3)];
    std::map<std::pair<CollectiveKind, std::uint32_t>, BoundedCollective> by_chunks;
    for (const AlgorithmRow& row : algorithms()) {
      if (row.name == "teccl") continue;
      for (const CollectiveKind kind : row.collectives) {
        if (kind == CollectiveKind::custom) continue;
        const std::uint32_t chunks_per_shard =
            row.chunk_multiple * (1 + static_cast<std::uint32_t>(random.below(2)));
        const auto [at, is_new] = by_chunks.try_emplace({kind, chunks_per_shard});
        if (is_new) at->second = bounded(topology, kind, chunks_per_shard, model, random);
        if (row.name == "sccl" && topology.npu_count() > most_for_sccl) continue;
        const auto& [collective, bounds] = at->second;
        SynthesisOptions options;
        options.model = model;
        const Outcome outcome = synthesize(row, topology, collective, options);
        if (!outcome.schedule) continue;
        const Time time = run_native(topology, collective, *outcome.schedule, model).completion;
        for (const Bound& bound : bounds) {
          CAPTURE(round, row.name, to_text(kind), bound.certificate);
          REQUIRE(bound.time <= time);
        }
        const Bound& best = best_of(bounds);
        spreading += best.kind == BoundKind::spreading_cut;
        reached += best.kind == BoundKind::spreading_cut && best.time == time;
        ++checked;
      }
    }
  }
  CHECK(24 * checked > 200 * rounds);
  CHECK(spreading > checked / 10);
  CHECK(reached > 0);
}

TEST_CASE("no algorithm beats a bound on clusters", "[bounds][heavy]") { check_clusters(12, 4); }

TEST_CASE("no algorithm beats a bound on clusters, at length", "[bounds][slow]") {
  check_clusters(24, UINT32_MAX);
}

} // namespace
} // namespace tutti::algorithms_test
