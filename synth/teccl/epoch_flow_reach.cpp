#include "synth/teccl/epoch_flow_reach.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace tutti {

std::vector<std::uint32_t> epochs_to(const EpochNetwork& network,
                                     std::span<const std::uint32_t> targets) {
  using Entry = std::pair<std::uint32_t, std::uint32_t>; // distance, node
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
  std::vector<std::uint32_t> distance(network.node_count, out_of_epochs);
  const auto reach = [&](std::uint32_t node, std::uint32_t epochs) {
    if (epochs >= distance[node]) return;
    distance[node] = epochs;
    next.emplace(epochs, node);
  };
  for (const std::uint32_t target : targets) reach(target, 0);
  while (!next.empty()) {
    const auto [epochs, node] = next.top();
    next.pop();
    if (epochs > distance[node]) continue;
    for (const std::uint32_t l : network.in_lanes[node])
      reach(network.lanes[l].from, epochs + network.lanes[l].delay);
  }
  return distance;
}

FlowReach flow_reach(const EpochNetwork& network, const EpochSource& source) {
  std::vector<std::uint32_t> wanters;
  for (const EpochDemand& demand : source.demands) wanters.push_back(demand.wanter);
  FlowReach reach{network.epochs_from({source.node}), epochs_to(network, wanters),
                  std::vector<std::uint32_t>(network.node_count, out_of_epochs)};
  for (const EpochLane& lane : network.lanes) {
    std::uint32_t& onward = reach.onward[lane.from];
    if (lane.to != source.node)
      onward = std::min(onward, epochs_plus(reach.to_wanter[lane.to], lane.delay));
  }
  return reach;
}

} // namespace tutti
