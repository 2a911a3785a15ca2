// Paths are walked depth first from their ends back, through switches, with no node twice;
// distances are shortest paths over them (Dijkstra).
#include "synth/teccl/rounds/switch_paths.hpp"

#include "sim/graphs/shortest_paths.hpp"
#include "synth/teccl/capacity_calendar.hpp"

#include <algorithm>
#include <tuple>

namespace tutti {

namespace {

// Backwards from the end of a path; `path` holds the lanes so far, last one first.
class PathsBackwards {
public:
  PathsBackwards(const EpochNetwork& network, std::vector<SwitchPath>& found)
      : network_(&network), found_(&found), visited_(network.node_count()) {}

  void extend(std::uint32_t node, std::uint32_t delay) {
    visited_[node] = true;
    for (const auto [id] : network_->in_lanes[node]) {
      const Lane& lane = network_->lanes[id];
      if (visited_[lane.from]) continue;
      lanes_.emplace_back(id);
      found_->push_back({lane.from, delay + lane.delay, {lanes_.rbegin(), lanes_.rend()}});
      if (!network_->stores[lane.from]) extend(lane.from, delay + lane.delay);
      lanes_.pop_back();
    }
    visited_[node] = false;
  }

private:
  const EpochNetwork* network_;
  std::vector<SwitchPath>* found_;
  std::vector<bool> visited_;
  std::vector<LaneId> lanes_;
};

} // namespace

std::vector<std::vector<SwitchPath>> switch_paths(const EpochNetwork& network) {
  std::vector<std::vector<SwitchPath>> paths(network.node_count());
  CapacityCalendar calendar(network);
  for (std::uint32_t to = 0; to < network.node_count(); ++to) {
    if (!network.stores[to]) continue;
    PathsBackwards(network, paths[to]).extend(to, 0);
    std::erase_if(paths[to], [&](const SwitchPath& path) {
      if (!calendar.take(path.lanes, Epoch{0})) return true;
      calendar.give_back(path.lanes, Epoch{0});
      return false;
    });
    std::ranges::sort(paths[to], [](const SwitchPath& a, const SwitchPath& b) {
      return std::tuple(a.delay, a.lanes.size(), a.lanes) <
             std::tuple(b.delay, b.lanes.size(), b.lanes);
    });
  }
  return paths;
}

EpochDistances::EpochDistances(std::span<const std::vector<SwitchPath>> paths)
    : nodes_(static_cast<std::uint32_t>(paths.size())),
      away_(std::size_t{nodes_} * nodes_, unreachable) {
  for (std::uint32_t to = 0; to < nodes_; ++to) {
    std::vector<std::uint32_t> away(nodes_, unreachable);
    search_shortest_paths(away, {&to, 1}, [&](auto node, auto rest, const auto& relax) {
      for (const SwitchPath& path : paths[node]) relax(path.from, rest + path.delay);
    });
    for (std::uint32_t from = 0; from < nodes_; ++from)
      away_[std::size_t{from} * nodes_ + to] = away[from];
  }
}

double closeness(std::uint32_t distance) {
  if (distance == 0) return 1;
  return distance == unreachable ? 0 : 0.5 / (1.0 + distance);
}

} // namespace tutti
