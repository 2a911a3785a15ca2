// Why: prices are asked for the cheapest paths of a demand, and what these cost proves a bound. A
// search with memory of its own, since pricing makes one for each demand and round.

#include "synth/flows/fluid/cheapest_paths.hpp"

#include "sim/graphs/shortest_paths.hpp"
#include "sim/ids.hpp"

namespace tutti {

void CheapestPaths::search(const FlowNetwork& network, std::span<const std::int64_t> costs,
                           std::span<const std::uint32_t> sources) {
  cost.assign(network.node_count(), INT64_MAX);
  last_link.assign(network.node_count(), no_index);
  search_shortest_paths(cost, sources, [&](auto node, auto so_far, const auto& relax) {
    for (const std::uint32_t link : network.out_links[node])
      if (const std::uint32_t to = network.links[link].to; relax(to, so_far + costs[link]))
        last_link[to] = link;
  });
}

} // namespace tutti
