// Steiner trees with unit costs at the nodes that don't want the chunk. Distances are small
// integers, so that Dijkstra's queue is an array of buckets; when a tree reaches a node that wants
// the chunk, its path joins at distance 0 and the search resumes from there.

#include "synth/tacos/relays.hpp"

#include "synth/tacos/arrivals.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace tutti {

namespace {

class RelaySearch {
public:
  RelaySearch(const Topology& network, const Collective& collective,
              std::span<const NodeId> participants)
      : network_(network), collective_(collective), takes_part_(network.node_count()),
        wants_(network.node_count()), distance_(network.node_count()), by_(network.node_count()),
        buckets_(network.node_count() + 1), participants_(participants.size()),
        connected_(strongly_connected(network, participants)) {
    for (const NodeId npu : participants) takes_part_[npu.value] = true;
  }

  /// False where someone can't be reached.
  bool find(ChunkId chunk, std::vector<NodeId>& relays) {
    const std::span<const NodeId> sources = collective_.sources(chunk);
    std::ranges::fill(distance_, far);
    wants_.assign(wants_.size(), false);
    for (const NodeId npu : sources) distance_[npu.value] = 0;
    std::size_t left = 0;
    for (const NodeId npu : collective_.destinations(chunk)) {
      wants_[npu.value] = distance_[npu.value] == far;
      left += wants_[npu.value];
    }
    if (connected_ && sources.size() + left == participants_) return true;
    for (auto& bucket : buckets_) bucket.clear();
    buckets_[0].assign(sources.begin(), sources.end());
    for (std::size_t d = 0; left > 0 && d < buckets_.size();) {
      if (buckets_[d].empty()) {
        ++d;
        continue;
      }
      const NodeId at = buckets_[d].back();
      buckets_[d].pop_back();
      if (distance_[at.value] != d) continue;
      if (wants_[at.value]) { // from here on it is a source, and so is the path to it
        wants_[at.value] = false;
        --left;
        join_path(at, relays);
        d = 0;
      }
      look_beyond(at);
    }
    std::ranges::sort(relays);
    return left == 0;
  }

private:
  static constexpr std::uint32_t far = UINT32_MAX;

  void join_path(NodeId to, std::vector<NodeId>& relays) {
    for (NodeId at = to; distance_[at.value] > 0; at = network_.link(by_[at.value]).from) {
      distance_[at.value] = 0;
      if (at != to) relays.push_back(at);
      buckets_[0].push_back(at);
    }
  }

  void look_beyond(NodeId at) {
    for (const LinkId link : network_.out_links(at)) {
      const NodeId to = network_.link(link).to;
      if (!takes_part_[to.value]) continue;
      const std::uint32_t distance = distance_[at.value] + (wants_[to.value] ? 0 : 1);
      if (distance >= distance_[to.value]) continue;
      distance_[to.value] = distance;
      by_[to.value] = link;
      buckets_[distance].push_back(to);
    }
  }

  const Topology& network_;
  const Collective& collective_;
  std::vector<bool> takes_part_;
  std::vector<bool> wants_;             // the chunk, and isn't reached yet
  std::vector<std::uint32_t> distance_; // relays between those who have it and this one, or far
  std::vector<LinkId> by_;              // the last link of the path with so few
  std::vector<std::vector<NodeId>> buckets_; // by distance
  std::size_t participants_;
  bool connected_;
};

} // namespace

std::optional<Relays> find_relays(const Topology& network, const Collective& collective,
                                  std::span<const NodeId> participants) {
  RelaySearch search(network, collective, participants);
  Relays relays(collective.chunks.size());
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c)
    if (!search.find(ChunkId{c}, relays[c])) return std::nullopt;
  return relays;
}

Collective with_relays(const Collective& collective, const Relays& relays) {
  Collective relayed = collective;
  for (std::uint32_t c = 0; c < relays.size(); ++c) {
    if (relays[c].empty()) continue;
    std::vector<NodeId> takers;
    std::ranges::set_union(collective.destinations(ChunkId{c}), relays[c],
                           std::back_inserter(takers));
    relayed.chunks[c].destinations = static_cast<SetId>(relayed.sets.size());
    relayed.sets.push_back(std::move(takers));
  }
  return relayed;
}

Schedule without_idle_relays(const Topology& topology, const Collective& collective,
                             const Schedule& schedule) {
  ChunkBits needed(topology.node_count(), collective.chunks.size());
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c)
    for (const NodeId npu : collective.destinations(ChunkId{c})) needed.set(npu.value, c);
  std::vector<bool> kept(schedule.size());
  for (std::size_t i = schedule.size(); i-- > 0;) {
    const Transfer transfer = schedule[i];
    const NodeId to = topology.link(schedule.paths().last(transfer.path)).to;
    if (!needed.test(to.value, transfer.chunk.value)) continue;
    kept[i] = true;
    const NodeId from = topology.link(schedule.paths().first(transfer.path)).from;
    needed.set(from.value, transfer.chunk.value);
  }
  Schedule pruned(topology.link_count());
  pruned.reserve(schedule.size());
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    if (!kept[i]) continue;
    Transfer transfer = schedule[i];
    transfer.path = pruned.paths().intern(schedule.paths().links(transfer.path));
    pruned.push(transfer);
  }
  return pruned;
}

bool strongly_connected(const Topology& network, std::span<const NodeId> participants) {
  std::vector<bool> inside(network.node_count());
  for (const NodeId node : participants) inside[node.value] = true;
  for (const bool forward : {true, false}) {
    std::vector<bool> seen(network.node_count());
    std::vector<NodeId> stack{participants.front()};
    seen[participants.front().value] = true;
    std::size_t count = 0;
    while (!stack.empty()) {
      const NodeId at = stack.back();
      stack.pop_back();
      ++count;
      for (const LinkId link : forward ? network.out_links(at) : network.in_links(at)) {
        const NodeId next = forward ? network.link(link).to : network.link(link).from;
        if (!inside[next.value] || seen[next.value]) continue;
        seen[next.value] = true;
        stack.push_back(next);
      }
    }
    if (count != participants.size()) return false;
  }
  return true;
}

} // namespace tutti
