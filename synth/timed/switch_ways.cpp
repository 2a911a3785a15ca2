#include "synth/timed/switch_ways.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace tutti {

namespace {

constexpr std::uint32_t not_reached = UINT32_MAX;

} // namespace

SwitchWays::SwitchWays(const Topology& topology, const std::vector<bool>& keeps)
    : topology_(topology), keeps_(keeps), distance_(topology.node_count()) {}

std::map<NodeId, std::vector<std::vector<LinkId>>> SwitchWays::from(NodeId start) {
  measure(start);
  ways_.clear();
  extend(start);
  return std::move(ways_);
}

void SwitchWays::measure(NodeId start) {
  std::fill(distance_.begin(), distance_.end(), not_reached);
  distance_[start.value] = 0;
  std::queue<NodeId> queue;
  queue.push(start);
  while (!queue.empty()) {
    const NodeId node = queue.front();
    queue.pop();
    if (node != start && !passes(node)) continue;
    for (const LinkId out : topology_.out_links(node)) {
      const NodeId next = topology_.link(out).to;
      if (distance_[next.value] != not_reached) continue;
      distance_[next.value] = distance_[node.value] + 1;
      queue.push(next);
    }
  }
}

void SwitchWays::extend(NodeId node) { // depth first; as deep as there are switches in a row
  for (const LinkId out : topology_.out_links(node)) {
    const NodeId next = topology_.link(out).to;
    if (distance_[next.value] != distance_[node.value] + 1) continue;
    way_.push_back(out);
    if (keeps_[next.value]) {
      auto& ways = ways_[next];
      if (ways.size() < most_ways) ways.push_back(way_);
    } else if (passes(next)) {
      extend(next);
    }
    way_.pop_back();
  }
}

bool SwitchWays::passes(NodeId node) const {
  return !keeps_[node.value] && !topology_.node(node).can.store;
}

} // namespace tutti
