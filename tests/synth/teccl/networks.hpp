// Small networks and problems in epochs.
#pragma once

#include "sim/random.hpp"
#include "synth/teccl/problem.hpp"
#include "tests/samples.hpp"

#include <array>
#include <utility>

namespace tutti::samples {

/// A collective over all NPUs whose chunks have this size.
inline Collective chunks_of(const Topology& topology, CollectiveKind kind, Bytes chunk,
                            std::uint32_t chunks_per_shard = 1) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.chunks_per_shard = chunks_per_shard;
  const std::int64_t shards = kind == CollectiveKind::broadcast ? 1 : topology.npu_count();
  spec.size = Bytes{chunk.count * chunks_per_shard * shards};
  return make_collective(topology, spec);
}

/// Links with few distinct values, one way round at least.
inline Topology random_network(Random& random, std::uint64_t most_npus) {
  constexpr std::array<std::int64_t, 4> latencies{0, 300'000, 500'000, 1'300'000};
  constexpr std::array<std::int64_t, 3> bandwidths{50'000'000'000, 25'000'000'000, 20'000'000'000};
  const auto count = static_cast<std::uint32_t>(2 + random.below(most_npus - 1));
  TopologyParts parts = npus("random", count);
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    Link link = samples::link(from, to);
    link.latency = Time{latencies[random.below(latencies.size())]};
    link.bandwidth = Bandwidth{bandwidths[random.below(bandwidths.size())]};
    parts.add_link(link);
  };
  std::vector<std::uint32_t> order;
  for (std::uint32_t n = 0; n < count; ++n) order.push_back(n);
  random.shuffle(order);
  for (std::uint32_t i = 0; i < count; ++i) add(order[i], order[(i + 1) % count]);
  for (std::uint64_t more = random.below(2 * count); more > 0; --more) {
    const auto from = static_cast<std::uint32_t>(random.below(count));
    const auto to = static_cast<std::uint32_t>(random.below(count));
    if (from != to) add(from, to);
  }
  return Topology(std::move(parts));
}

/// NPUs on a switch that copies, or not.
inline Topology hub(std::uint32_t n, bool copies) {
  TopologyParts parts = npus("hub", n);
  const NodeId hub = parts.add_node({"hub", NodeKind::switching, {false, copies, false}, {}});
  for (std::uint32_t i = 0; i < n; ++i) parts.add_duplex(link(i, hub.value));
  return Topology(std::move(parts));
}

/// The lane from one node to another, of which there is one.
inline std::uint32_t lane_between(const EpochNetwork& network, std::uint32_t from,
                                  std::uint32_t to) {
  std::uint32_t lane = 0;
  while (network.lanes[lane].from != from || network.lanes[lane].to != to) ++lane;
  return lane;
}

} // namespace tutti::samples
