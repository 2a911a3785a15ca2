#include "tests/synth/sccl/random_steps.hpp"

#include "sim/random.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tutti::testing {

namespace {

// Per round: 1, 3/2 and 2 in units of the first.
constexpr std::array<std::int64_t, 5> bandwidths{2'000'000'000, 2'000'000'000, 2'000'000'000,
                                                 3'000'000'000, 4'000'000'000};

std::uint32_t below(Random& random, std::size_t bound) {
  return static_cast<std::uint32_t>(random.below(bound));
}

Bandwidth random_bandwidth(Random& random) { return {bandwidths[random.below(bandwidths.size())]}; }

/// A cycle through all nodes, and some more links.
Topology random_topology(Random& random) {
  TopologyParts parts;
  parts.name = "random";
  const std::uint32_t npus = 2 + below(random, 4);
  for (std::uint32_t n = 0; n < npus; ++n)
    parts.add_node({"npu" + std::to_string(n), NodeKind::npu, {}, {}});
  if (random.below(4) == 0)
    parts.add_node({"switch", NodeKind::switching, {false, false, false}, {}});
  if (random.below(4) == 0)
    parts.add_node({"memory", NodeKind::memory, {true, random.below(4) > 0, false}, {}});

  std::vector<std::uint32_t> cycle;
  for (std::uint32_t n = 0; n < npus; ++n) cycle.push_back(n);
  const auto link = [&](std::uint32_t from, std::uint32_t to) {
    parts.add_link({NodeId{from}, NodeId{to}, Time{1000}, random_bandwidth(random), -1});
  };
  random.shuffle(cycle);
  for (std::uint32_t i = 0; i < npus; ++i) link(cycle[i], cycle[(i + 1) % npus]);
  const std::size_t nodes = parts.nodes.size();
  for (std::uint64_t extra = random.below(nodes + 2 * (nodes - npus) + 1); extra > 0; --extra) {
    const std::uint32_t from = below(random, nodes), to = below(random, nodes);
    if (from == to) continue;
    link(from, to);
    if (random.below(2) == 0) link(to, from);
  }
  for (std::uint64_t g = random.below(3); g > 0; --g) {
    SharedGroup group{"group" + std::to_string(g), {}, random_bandwidth(random)};
    for (std::uint32_t l = 0; l < parts.links.size(); ++l)
      if (random.below(3) == 0) group.links.emplace_back(l);
    if (!group.links.empty()) parts.groups.push_back(std::move(group));
  }
  return Topology(std::move(parts));
}

std::vector<NodeId> random_npus(Random& random, const Topology& topology, std::uint32_t least) {
  std::vector<NodeId> npus;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) npus.emplace_back(n);
  random.shuffle(npus);
  npus.resize(least + random.below(npus.size() + 1 - least));
  std::ranges::sort(npus);
  return npus;
}

Collective custom(const std::vector<std::pair<std::vector<NodeId>, std::vector<NodeId>>>& chunks) {
  Collective collective;
  CollectivePart part;
  for (const auto& [sources, destinations] : chunks) {
    const auto set = static_cast<SetId>(collective.sets.size());
    collective.sets.push_back(sources);
    collective.sets.push_back(destinations);
    collective.chunks.push_back({Bytes{1'000'000}, set, set + 1, false});
    part.size += Bytes{1'000'000};
  }
  part.chunk_count = static_cast<std::uint32_t>(collective.chunks.size());
  for (const std::vector<NodeId>& set : collective.sets)
    part.group.insert(part.group.end(), set.begin(), set.end());
  std::ranges::sort(part.group);
  part.group.erase(std::unique(part.group.begin(), part.group.end()), part.group.end());
  collective.parts.push_back(std::move(part));
  return collective;
}

Collective random_collective(Random& random, const Topology& topology) {
  constexpr std::array kinds{CollectiveKind::all_gather, CollectiveKind::broadcast,
                             CollectiveKind::gather,     CollectiveKind::scatter,
                             CollectiveKind::all_to_all, CollectiveKind::custom};
  CollectiveSpec spec;
  spec.kind = kinds[random.below(kinds.size())];
  if (spec.kind == CollectiveKind::custom) {
    std::vector<std::pair<std::vector<NodeId>, std::vector<NodeId>>> chunks;
    for (std::uint64_t count = 1 + random.below(4); count > 0; --count) {
      std::vector<NodeId> sources = random_npus(random, topology, 1);
      if (random.below(2) == 0) sources.resize(1);
      chunks.emplace_back(std::move(sources), random_npus(random, topology, 1));
    }
    // Someone lacks something.
    chunks.front() = {{NodeId{0}}, {NodeId{1}}};
    return custom(chunks);
  }
  spec.size = Bytes{4'000'000};
  spec.group = random_npus(random, topology, 2);
  if (random.below(2) == 0) spec.group.clear();
  if (has_root(spec.kind))
    spec.root = below(random, spec.group.empty() ? topology.npu_count() : spec.group.size());
  return make_collective(topology, spec);
}

} // namespace

StepCase random_step_case(std::uint64_t seed) {
  Random random(seed);
  Topology topology = random_topology(random);
  Collective collective = random_collective(random, topology);
  return {std::move(topology), std::move(collective)};
}

Collective cut(const Topology& topology, const Collective& collective,
               std::uint32_t chunks_per_shard) {
  const CollectivePart& part = collective.parts.front();
  if (part.kind != CollectiveKind::custom)
    return make_collective(topology,
                           {part.kind, part.size, part.group, part.root, chunks_per_shard});
  std::vector<std::pair<std::vector<NodeId>, std::vector<NodeId>>> chunks;
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c)
    for (std::uint32_t k = 0; k < chunks_per_shard; ++k) {
      const auto sources = collective.sources(ChunkId{c}),
                 destinations = collective.destinations(ChunkId{c});
      chunks.emplace_back(std::vector(sources.begin(), sources.end()),
                          std::vector(destinations.begin(), destinations.end()));
    }
  return custom(chunks);
}

} // namespace tutti::testing
