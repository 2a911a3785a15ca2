// A Dijkstra search from each vertex, which goes on through nodes that don't copy only. Paths are
// kept as steps that point to the step before, shared by all paths of a search.

#include "synth/flows/fluid/logical_network.hpp"

#include "sim/ids.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

namespace tutti {

LogicalNetwork::LogicalNetwork(const FlowNetwork& network, const std::vector<bool>& members)
    : network_(network), vertex_(network.copies), reached_(network.node_count()) {
  for (std::uint32_t v = 0; v < network.node_count(); ++v)
    if (members[v]) vertex_[v] = true;
}

void LogicalNetwork::set_costs(std::span<const std::int64_t> costs) {
  arcs_.clear();
  last_step_.clear();
  steps_.clear();
  for (std::uint32_t v = 0; v < network_.node_count(); ++v)
    if (vertex_[v]) search(v, costs);
}

void LogicalNetwork::search(std::uint32_t start, std::span<const std::int64_t> costs) {
  using Entry = std::tuple<std::int64_t, std::uint32_t, std::uint32_t>; // cost, links, node
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  ++searches_;
  reached_[start] = {0, 0, no_index, searches_, true};
  const auto leave = [&](std::uint32_t node) {
    const Reached from = reached_[node];
    for (const std::uint32_t link : network_.out_links[node]) {
      const std::uint32_t to = network_.links[link].to;
      Reached& at = reached_[to];
      const std::int64_t cost = from.cost + costs[link];
      const std::uint32_t links = from.links + 1;
      if (at.search == searches_ &&
          (at.settled || std::pair(at.cost, at.links) <= std::pair(cost, links)))
        continue;
      at = {cost, links, static_cast<std::uint32_t>(steps_.size()), searches_, false};
      steps_.push_back({link, from.step});
      queue.emplace(cost, links, to);
    }
  };
  leave(start);
  while (!queue.empty()) {
    const auto [cost, links, node] = queue.top();
    queue.pop();
    Reached& at = reached_[node];
    if (at.settled) continue;
    at.settled = true;
    if (vertex_[node]) {
      arcs_.push_back({start, node, cost});
      last_step_.push_back(at.step);
    }
    if (!network_.copies[node]) leave(node);
  }
}

void LogicalNetwork::append_path(std::uint32_t arc, std::vector<std::uint32_t>& links) const {
  const auto begin = static_cast<std::ptrdiff_t>(links.size());
  for (std::uint32_t step = last_step_[arc]; step != no_index; step = steps_[step].before)
    links.push_back(steps_[step].link);
  std::reverse(links.begin() + begin, links.end());
}

} // namespace tutti
