// A problem is a forest's if every demand has one root and reaches the same terminals, and the
// network has plain bandwidths with every switch balanced; each condition that fails is told in
// words. Of All-Reduce each terminal roots an equal part.

#include "synth/flows/packing/tree_demands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

namespace tutti {

namespace {

using NodeList = std::vector<std::uint32_t>;

/// Why the demand isn't a forest's; nothing where it is.
std::optional<std::string> unsuited(const FlowProblem& problem, const FlowDemand& demand) {
  const auto sources = problem.sources(demand), sinks = problem.sinks(demand);
  switch (demand.kind) {
  case FlowKind::paths: return "data of its own for every receiver: that takes paths, not trees";
  case FlowKind::spread:
    if (sources.size() == 1) break;
    return fmt::format("data that {} nodes hold from the beginning: trees have one root",
                       sources.size());
  case FlowKind::combine: break; // by its definition to one sink
  case FlowKind::both:
    if (std::ranges::equal(sources, sinks)) break;
    return "contributions of others than those who want the sum";
  }
  return std::nullopt;
}

/// Everyone that takes part: sources and sinks.
NodeList ends(const FlowProblem& problem, const FlowDemand& demand) {
  NodeList nodes;
  std::ranges::set_union(problem.sources(demand), problem.sinks(demand), std::back_inserter(nodes));
  return nodes;
}

std::optional<std::string> missing_ability(const FlowNetwork& network, const TreeDemands& demands) {
  const bool copy = demands.kind != FlowKind::combine, reduce = demands.kind != FlowKind::spread;
  for (const std::uint32_t node : demands.terminals) {
    if (copy && !network.copies[node]) return fmt::format("node {} can't copy", node);
    if (reduce && !network.reduces[node]) return fmt::format("node {} can't reduce", node);
  }
  return std::nullopt;
}

/// Fills terminals, bytes and demand_of.
std::optional<std::string> read_demands(const FlowProblem& problem, TreeDemands& demands) {
  if (problem.demands.empty()) return "nothing has to move";
  demands.kind = problem.demands.front().kind;
  demands.terminals = ends(problem, problem.demands.front());
  demands.bytes.resize(problem.network.node_count());
  demands.demand_of.resize(problem.network.node_count(), FlowProblem::none);
  for (std::uint32_t d = 0; d < problem.demands.size(); ++d) {
    const FlowDemand& demand = problem.demands[d];
    if (auto reason = unsuited(problem, demand)) return reason;
    if (demand.kind != demands.kind || (d > 0 && demand.kind == FlowKind::both))
      return "several collectives at once";
    if (ends(problem, demand) != demands.terminals)
      return "several groups: every tree must reach the same nodes";
    if (demand.kind == FlowKind::both) {
      for (const std::uint32_t node : demands.terminals) {
        demands.bytes[node] = 1;
        demands.demand_of[node] = d;
      }
      break;
    }
    const std::uint32_t root = demand.kind == FlowKind::spread ? problem.sources(demand).front()
                                                               : problem.sinks(demand).front();
    if (demands.demand_of[root] != FlowProblem::none) return "several demands with one root";
    demands.bytes[root] = demand.bytes;
    demands.demand_of[root] = d;
  }
  return missing_ability(problem.network, demands);
}

/// Links as fast as they are alone, where groups make no other difference.
std::optional<std::string> read_bandwidths(const FlowNetwork& network, TreeDemands& demands) {
  for (std::uint32_t link = 0; link < network.link_count(); ++link)
    demands.bandwidth.push_back(network.resources[link].bandwidth);
  for (std::uint32_t r = network.link_count(); r < network.resource_count(); ++r) {
    const auto& [bandwidth, links] = network.resources[r];
    double together = 0; // no sum of bandwidths is too large for it
    for (const std::uint32_t link : links)
      together += static_cast<double>(network.resources[link].bandwidth);
    if (together <= static_cast<double>(bandwidth)) continue;
    if (links.size() > 1)
      return fmt::format("links that share bandwidth: group {}", r - network.link_count());
    std::int64_t& alone = demands.bandwidth[links.front()];
    alone = std::min(alone, bandwidth);
  }
  return std::nullopt;
}

/// Nodes that only pass data on must be able to pass on all that they get.
std::optional<std::string> unbalanced(const FlowNetwork& network, const TreeDemands& demands) {
  const auto sum = [&](const NodeList& links) {
    std::int64_t bandwidth = 0;
    for (const std::uint32_t link : links) bandwidth += demands.bandwidth[link];
    return bandwidth;
  };
  for (std::uint32_t node = 0; node < network.node_count(); ++node) {
    const std::int64_t in = sum(network.in_links[node]), out = sum(network.out_links[node]);
    if (in != out && !std::ranges::binary_search(demands.terminals, node))
      return fmt::format("links into and out of node {} carry {} and {} bytes/s: to split it off "
                         "takes the same",
                         node, in, out);
  }
  return std::nullopt;
}

} // namespace

TreeDemands tree_demands(const FlowProblem& problem) {
  TreeDemands demands;
  std::optional<std::string> obstacle = read_demands(problem, demands);
  if (!obstacle) obstacle = read_bandwidths(problem.network, demands);
  if (!obstacle) obstacle = unbalanced(problem.network, demands);
  demands.obstacle = obstacle.value_or("");
  return demands;
}

} // namespace tutti
