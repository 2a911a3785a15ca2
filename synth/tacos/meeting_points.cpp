// A chunk that several want when it is reduced needs a root, from which both trees, of reductions
// and of copies, grow. A contributor far from the others' border keeps both trees among those who
// need the chunk anyway; how far is found by a breadth-first search inwards from all who don't
// contribute. An NPU that has its fair share of the chunks comes last.

#include "synth/tacos/meeting_points.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

/// Links between an NPU inside a set and the nearest node outside, in either direction.
class Depths {
public:
  explicit Depths(const Topology& topology) : topology_(topology), depth_(topology.node_count()) {}

  /// Valid until the next call. Where nothing is outside, or within reach, all are equally deep.
  std::span<const std::uint32_t> within(std::span<const NodeId> set) {
    constexpr std::uint32_t unknown = UINT32_MAX;
    std::ranges::fill(depth_, 0);
    for (const NodeId node : set) depth_[node.value] = unknown;
    order_.clear();
    for (std::uint32_t n = 0; n < depth_.size(); ++n)
      if (depth_[n] == 0) order_.emplace_back(n);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const auto visit = [&](NodeId next) {
        if (depth_[next.value] != unknown) return;
        depth_[next.value] = depth_[order_[i].value] + 1;
        order_.push_back(next);
      };
      for (const LinkId link : topology_.out_links(order_[i])) visit(topology_.link(link).to);
      for (const LinkId link : topology_.in_links(order_[i])) visit(topology_.link(link).from);
    }
    return depth_;
  }

private:
  const Topology& topology_;
  std::vector<std::uint32_t> depth_;
  std::vector<NodeId> order_;
};

/// The nodes at which a sum can come about: they can reduce and copy, all contributors reach them,
/// and they reach all who want it.
class AblePoints {
public:
  AblePoints(const Topology& topology, const Collective& collective)
      : topology_(topology), collective_(collective) {}

  /// Valid until the next call for other sets.
  const std::vector<bool>& of(const Chunk& chunk) {
    std::vector<bool>& able = known_[{chunk.sources, chunk.destinations}];
    if (!able.empty()) return able;
    for (const Node& node : topology_.nodes()) able.push_back(node.can.reduce && node.can.copy);
    keep_reached(able, collective_.sets[chunk.sources], Along::links);
    keep_reached(able, collective_.sets[chunk.destinations], Along::reversed_links);
    return able;
  }

private:
  enum class Along { links, reversed_links };

  /// Those that each of the nodes reaches. Nodes that the first reaches both ways reach the same.
  void keep_reached(std::vector<bool>& able, std::span<const NodeId> nodes, Along along) const {
    if (nodes.empty()) return;
    const Along back = along == Along::links ? Along::reversed_links : Along::links;
    const std::vector<bool> first = reached(nodes.front(), along),
                            first_back = reached(nodes.front(), back);
    const auto keep = [&](const std::vector<bool>& seen) {
      for (std::size_t n = 0; n < able.size(); ++n) able[n] = able[n] && seen[n];
    };
    keep(first);
    for (const NodeId node : nodes)
      if (!first[node.value] || !first_back[node.value]) keep(reached(node, along));
  }

  [[nodiscard]] std::vector<bool> reached(NodeId from, Along along) const {
    std::vector<bool> seen(topology_.node_count());
    std::vector<NodeId> open{from};
    seen[from.value] = true;
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      const bool ahead = along == Along::links;
      for (const LinkId link : ahead ? topology_.out_links(at) : topology_.in_links(at)) {
        const NodeId to = ahead ? topology_.link(link).to : topology_.link(link).from;
        if (!seen[to.value]) open.push_back(to);
        seen[to.value] = true;
      }
    }
    return seen;
  }

  const Topology& topology_;
  const Collective& collective_;
  std::map<std::pair<SetId, SetId>, std::vector<bool>> known_;
};

/// How many chunks each NPU can be the meeting point of, so that every chunk may find one.
std::uint32_t fair_share(const Topology& topology, const Collective& collective) {
  std::vector<bool> contributes(topology.node_count());
  std::size_t chunks = 0;
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    if (collective.sources(ChunkId{c}).size() < 2) continue;
    ++chunks;
    for (const NodeId npu : collective.sources(ChunkId{c})) contributes[npu.value] = true;
  }
  const auto npus = static_cast<std::size_t>(std::ranges::count(contributes, true));
  return static_cast<std::uint32_t>(npus == 0 ? 0 : (chunks + npus - 1) / npus);
}

} // namespace

std::vector<NodeId> meeting_points(const Topology& topology, const Collective& collective) {
  const std::uint32_t share = fair_share(topology, collective), nodes = topology.node_count();
  std::vector<std::uint32_t> taken(nodes);
  std::vector<NodeId> points;
  Depths depths(topology);
  AblePoints able_points(topology, collective);
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    const auto sources = collective.sources(ChunkId{c}),
               destinations = collective.destinations(ChunkId{c});
    const bool reduces = collective.chunks[c].reduces && sources.size() > 1;
    if (!reduces) {
      points.push_back(sources.front());
      continue;
    }
    const std::vector<bool>& able = able_points.of(collective.chunks[c]);
    if (destinations.size() == 1 && able[destinations.front().value]) {
      points.push_back(destinations.front());
      continue;
    }
    std::vector<NodeId> candidates;
    for (const NodeId npu : sources)
      if (able[npu.value]) candidates.push_back(npu);
    for (std::uint32_t n = 0; n < topology.npu_count() && candidates.empty(); ++n)
      if (able[n]) candidates.emplace_back(n);
    if (candidates.empty()) {
      points.emplace_back();
      continue;
    }
    const std::span<const std::uint32_t> depth = depths.within(sources);
    const auto badness = [&](NodeId npu) {
      const std::uint32_t too_many = taken[npu.value] < share ? 0 : taken[npu.value];
      return std::tuple(too_many, ~depth[npu.value], (npu.value + nodes - c % nodes) % nodes);
    };
    const NodeId best = std::ranges::min(candidates, {}, badness);
    ++taken[best.value];
    points.push_back(best);
  }
  return points;
}

} // namespace tutti
