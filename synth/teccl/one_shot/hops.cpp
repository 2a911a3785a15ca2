// A chunk could feed itself around a cycle of lanes without delay. Places of a node by stages, one
// for each such lane taken in a row, unroll the cycles; stages end where a path would visit a node
// twice.
#include "synth/teccl/one_shot/hops.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

namespace tutti {

namespace {

/// Lanes without delay between nodes that don't store, and which of them can be taken in a cycle.
class UndelayedLanes {
public:
  explicit UndelayedLanes(const EpochNetwork& network)
      : network_(network), reaches_(network.node_count(), std::vector<bool>(network.node_count())) {
    for (std::uint32_t v = 0; v < network.node_count(); ++v) search(v);
  }

  /// Whether the lane can be part of a cycle without delay.
  [[nodiscard]] bool is_on_cycle(LaneId lane) const {
    const Lane& at = network_.lane(lane);
    return is_one(at) && reaches_[at.to][at.from];
  }
  /// How many nodes can be reached and come back from.
  [[nodiscard]] std::uint32_t cycle_nodes(std::uint32_t node) const {
    std::uint32_t count = 1;
    for (std::uint32_t v = 0; v < network_.node_count(); ++v)
      count += v != node && reaches_[node][v] && reaches_[v][node];
    return count;
  }

private:
  [[nodiscard]] bool is_one(const Lane& lane) const {
    return lane.delay == 0 && !network_.stores[lane.from] && !network_.stores[lane.to];
  }
  void search(std::uint32_t start) {
    if (network_.stores[start]) return;
    std::vector<std::uint32_t> queue{start};
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const auto [l] : network_.out_lanes[queue[i]]) {
        const Lane& lane = network_.lanes[l];
        if (!is_one(lane) || reaches_[start][lane.to]) continue;
        reaches_[start][lane.to] = true;
        queue.push_back(lane.to);
      }
  }

  const EpochNetwork& network_;
  std::vector<std::vector<bool>> reaches_;
};

/// Which lanes are taken in which stage.
class Stages {
public:
  explicit Stages(const EpochNetwork& network)
      : network_(network), undelayed_(network), of_lane_(network.lanes.size()) {
    for (std::uint32_t v = 0; v < network.node_count(); ++v) add_place(v, 0);
    for (std::uint32_t i = 0; i < made_.places.size(); ++i) leave(PlaceId{i});
  }

  EpochHops hops() {
    made_.of_lane.resize(network_.lanes.size());
    made_.out.resize(made_.places.size());
    made_.in.resize(made_.places.size());
    for (std::uint32_t l = 0; l < network_.lanes.size(); ++l)
      for (const EpochHop& hop : of_lane_[l]) {
        const auto index = static_cast<std::uint32_t>(made_.hops.size());
        made_.hops.push_back(hop);
        made_.of_lane[l].push_back(index);
        made_.out[hop.from.value].push_back(index);
        made_.in[hop.to.value].push_back(index);
      }
    return std::move(made_);
  }

private:
  PlaceId add_place(std::uint32_t node, std::uint32_t stage) {
    const PlaceId next{static_cast<std::uint32_t>(made_.places.size())};
    const auto [known, is_new] = place_.emplace(std::pair(node, stage), next);
    if (is_new) {
      made_.places.push_back({node, stage});
      came_from_.emplace_back();
    }
    return known->second;
  }

  // Places of a stage are complete before those of the next are left.
  void leave(PlaceId from) {
    const auto [node, stage] = made_.place(from);
    for (const LaneId id : network_.out_lanes[node]) {
      const Lane& lane = network_.lane(id);
      const bool cycles = undelayed_.is_on_cycle(id);
      assert(lane.delay > 0 || !network_.stores[node]);
      if (cycles && (stage + 2 > undelayed_.cycle_nodes(node) || only_back(from, lane.to)))
        continue;
      const PlaceId to = add_place(lane.to, cycles ? stage + 1 : 0);
      if (cycles) came_from_[to.value].push_back(node);
      of_lane_[id.value].push_back({id, from, to, lane.delay});
    }
  }
  /// Whether all that is at a place came from this node without delay.
  [[nodiscard]] bool only_back(PlaceId place, std::uint32_t node) const {
    return made_.place(place).stage > 0 &&
           std::ranges::all_of(came_from_[place.value],
                               [&](std::uint32_t from) { return from == node; });
  }

  const EpochNetwork& network_;
  UndelayedLanes undelayed_;
  EpochHops made_;
  std::vector<std::vector<EpochHop>> of_lane_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, PlaceId> place_; ///< by node, stage
  std::vector<std::vector<std::uint32_t>> came_from_;                ///< [place]
};

} // namespace

EpochHops epoch_hops(const EpochNetwork& network) { return Stages(network).hops(); }

} // namespace tutti
