// Paths through switches are found by breadth-first search from each node that keeps chunks, which
// gives each node its distance, and then depth first along links that lead one further from it: so
// only shortest paths are walked, as deep as there are switches in a row.
#include "synth/timed/lane_network.hpp"

#include "sim/error.hpp"
#include "sim/graphs/shortest_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

namespace tutti {

namespace {

constexpr std::size_t most_lanes = 10'000'000;
constexpr std::size_t most_paths = 8; // from one node to another

class SwitchPathSearch {
public:
  SwitchPathSearch(const Topology& topology, const std::vector<bool>& keeps)
      : topology_(topology), keeps_(keeps), distance_(topology.node_count()) {}

  /// Paths by their ends, ascending.
  std::map<NodeId, std::vector<std::vector<LinkId>>> from(NodeId start) {
    measure(start);
    paths_.clear();
    extend(start);
    return std::move(paths_);
  }

private:
  void measure(NodeId start) {
    std::ranges::fill(distance_, unreachable);
    distance_[start.value] = 0;
    std::queue<NodeId> queue;
    queue.push(start);
    while (!queue.empty()) {
      const NodeId node = queue.front();
      queue.pop();
      if (node != start && !passes(node)) continue;
      for (const LinkId out : topology_.out_links(node)) {
        const NodeId next = topology_.link(out).to;
        if (distance_[next.value] != unreachable) continue;
        distance_[next.value] = distance_[node.value] + 1;
        queue.push(next);
      }
    }
  }

  void extend(NodeId node) {
    for (const LinkId out : topology_.out_links(node)) {
      const NodeId next = topology_.link(out).to;
      if (distance_[next.value] != distance_[node.value] + 1) continue;
      path_.push_back(out);
      if (keeps_[next.value]) {
        auto& paths = paths_[next];
        if (paths.size() < most_paths) paths.push_back(path_);
      } else if (passes(next)) {
        extend(next);
      }
      path_.pop_back();
    }
  }

  [[nodiscard]] bool passes(NodeId node) const {
    return !keeps_[node.value] && !topology_.node(node).can.store;
  }

  const Topology& topology_;
  const std::vector<bool>& keeps_;
  std::vector<std::uint32_t> distance_; // in links
  std::vector<LinkId> path_;
  std::map<NodeId, std::vector<std::vector<LinkId>>> paths_;
};

/// By delays, over the lanes that `lanes_of` tells of a node, to their `far` ends.
std::vector<std::uint32_t> delays_along(const LaneNetwork& network,
                                        const std::vector<std::uint32_t>& starts,
                                        const std::vector<std::vector<LaneId>>& lanes_of,
                                        std::uint32_t Lane::*far) {
  std::vector<std::uint32_t> distances(network.node_count(), unreachable);
  search_shortest_paths(distances, starts, [&](auto node, auto reached, const auto& relax) {
    for (const auto [l] : lanes_of[node])
      relax(network.lanes[l].*far, reached + network.lanes[l].delay);
  });
  return distances;
}

} // namespace

void LaneNetwork::index_lanes(std::uint32_t nodes) {
  out_lanes.assign(nodes, {});
  in_lanes.assign(nodes, {});
  for (std::uint32_t l = 0; l < lanes.size(); ++l) {
    out_lanes[lanes[l].from].emplace_back(l);
    in_lanes[lanes[l].to].emplace_back(l);
  }
}

std::vector<std::uint32_t>
LaneNetwork::distances_from(const std::vector<std::uint32_t>& sources) const {
  return delays_along(*this, sources, out_lanes, &Lane::to);
}

std::vector<std::uint32_t>
LaneNetwork::distances_to(const std::vector<std::uint32_t>& destinations) const {
  return delays_along(*this, destinations, in_lanes, &Lane::from);
}

std::vector<Lane> lanes_through_switches(const Topology& topology, const std::vector<bool>& keeps,
                                         std::string_view user) {
  std::vector<Lane> lanes;
  SwitchPathSearch search(topology, keeps);
  for (std::uint32_t from = 0; from < topology.node_count(); ++from) {
    if (!keeps[from]) continue;
    for (auto& [to, paths] : search.from(NodeId{from}))
      for (auto& links : paths) {
        lanes.push_back({from, to.value, std::move(links)});
        if (lanes.size() > most_lanes)
          throw InputError(fmt::format("{} has over {} paths between its nodes: too many for {}",
                                       topology.name(), most_lanes, user));
      }
  }
  return lanes;
}

} // namespace tutti
