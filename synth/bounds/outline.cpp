// What one member of an All-to-All sends is what the root of a Scatter does, so that its shards'
// sizes come from one. Where the buffer doesn't divide, shards differ by bytes: destinations whose
// shards are cut alike are a set, and each size of their chunks is a class.

#include "synth/bounds/outline.hpp"

#include "sim/error.hpp"
#include "sim/feasibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace tutti::bounds {

namespace {

/// Everyone reaches the first member and is reached from there.
void require_connected(const Topology& topology, std::size_t members, Collective singles) {
  for (SetId i = 1; i < members; ++i) {
    singles.chunks.push_back({Bytes{1}, 0, i, false});
    singles.chunks.push_back({Bytes{1}, i, 0, false});
  }
  if (!infeasibility(topology, singles).empty())
    throw InputError(
        fmt::format("{}: not all members of the All-to-All reach each other", topology.name()));
}

/// `scatter` is from the first member, in so many chunks per shard.
Outline all_pairs(const Topology& topology, Collective scatter) {
  CollectivePart& part = scatter.parts.front();
  const std::uint32_t shard = part.chunks_per_shard;
  const auto members = static_cast<SetId>(part.group.size());
  part.kind = CollectiveKind::all_to_all;
  part.chunk_count *= members;
  const std::vector<Chunk> chunks = std::exchange(scatter.chunks, {});
  require_connected(topology, members, scatter);

  using Sizes = std::map<Bytes, std::int64_t, std::greater<>>; // chunks of each
  struct Alike {
    ChunkId first;
    std::vector<NodeId> destinations;
  };
  std::map<Sizes, Alike> by_sizes;
  for (std::uint32_t c = 0; c < chunks.size(); c += shard) {
    Sizes sizes;
    for (std::uint32_t k = 0; k < shard; ++k) ++sizes[chunks[c + k].size];
    Alike& alike = by_sizes.emplace(std::move(sizes), Alike{ChunkId{c}, {}}).first->second;
    alike.destinations.push_back(part.group[c / shard]);
  }
  Outline result{std::move(scatter), {}};
  for (auto& [sizes, alike] : by_sizes) {
    const auto destinations = static_cast<SetId>(result.collective.sets.size());
    std::ranges::sort(alike.destinations);
    result.collective.sets.push_back(std::move(alike.destinations));
    for (const auto& [size, count] : sizes)
      result.classes.push_back(
          {size, size, false, true, members, destinations, alike.first, count});
  }
  std::ranges::stable_sort(result.classes, std::greater<>(), &ChunkClass::size);
  return result;
}

} // namespace

Outline outline(Collective collective) {
  std::vector<ChunkClass> classes = chunk_classes(collective);
  return {std::move(collective), std::move(classes)};
}

Outline outline(const Topology& topology, const CollectiveSpec& spec, std::size_t listed) {
  constexpr std::uint64_t most = std::uint64_t{1} << 28; // make_collective() refuses more
  const std::uint64_t members = spec.group.empty() ? topology.npu_count() : spec.group.size();
  const std::uint64_t chunks = members * members * spec.chunks_per_shard;
  if (spec.kind != CollectiveKind::all_to_all || chunks <= listed || chunks > most)
    return outline(make_collective(topology, spec));
  CollectiveSpec scatter = spec;
  scatter.kind = CollectiveKind::scatter;
  scatter.root = 0;
  return all_pairs(topology, make_collective(topology, scatter));
}

} // namespace tutti::bounds
