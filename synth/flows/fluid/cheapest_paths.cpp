// Why: prices are asked for the cheapest paths of a demand, and what these cost proves a bound.
#include "synth/flows/fluid/cheapest_paths.hpp"

#include "sim/ids.hpp"

#include <functional>
#include <queue>
#include <utility>

namespace tutti {

void CheapestPaths::search(const FlowNetwork& network, std::span<const std::int64_t> costs,
                           std::span<const std::uint32_t> sources) {
  using Entry = std::pair<std::int64_t, std::uint32_t>; // cost, node
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  cost.assign(network.node_count(), INT64_MAX);
  last_link.assign(network.node_count(), no_index);
  for (const std::uint32_t source : sources) {
    cost[source] = 0;
    queue.emplace(0, source);
  }
  while (!queue.empty()) {
    const auto [so_far, node] = queue.top();
    queue.pop();
    if (so_far > cost[node]) continue;
    for (const std::uint32_t link : network.out_links[node]) {
      const std::uint32_t to = network.links[link].to;
      if (so_far + costs[link] >= cost[to]) continue;
      cost[to] = so_far + costs[link];
      last_link[to] = link;
      queue.emplace(cost[to], to);
    }
  }
}

} // namespace tutti
