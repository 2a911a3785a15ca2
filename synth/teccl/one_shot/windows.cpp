// A chunk could feed itself around a cycle of lanes without delay. Places of a node by stages, one
// for each such lane taken in a row, unroll the cycles; stages end where a path would visit a node
// twice.
//
// Earliest arrivals by Dijkstra's algorithm from the sources, latest useful ones backwards from the
// destinations; a send is of use between the two.

#include "synth/teccl/one_shot/windows.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <map>
#include <queue>
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

using Visit = std::pair<Epoch, PlaceId>;

class WindowSearch {
public:
  WindowSearch(const EpochProblem& problem, const EpochHops& hops, const EpochHorizon& horizon,
               ChunkId chunk)
      : network_(problem.network), chunk_(problem.chunks[chunk.value]), hops_(hops),
        horizon_(horizon) {}

  EpochWindows run(const std::vector<EpochSend>& past) {
    settle(past);
    find_earliest();
    find_latest();
    find_sends();
    find_dominators();
    return std::move(windows_);
  }

private:
  void settle(const std::vector<EpochSend>& past) {
    windows_.settled.resize(network_.node_count());
    windows_.past_arrivals.resize(network_.node_count());
    for (const std::uint32_t v : chunk_.sources)
      if (network_.stores[v]) windows_.settled[v] = Epoch{0};
    for (const EpochSend& send : past) {
      const Lane& lane = network_.lane(send.lane);
      const Epoch arrival = send.epoch + lane.delay;
      if (network_.stores[lane.to])
        windows_.settled[lane.to] = std::min(windows_.settled[lane.to].value_or(arrival), arrival);
      else if (arrival >= horizon_.begin)
        windows_.past_arrivals[lane.to].push_back(arrival);
    }
  }

  void find_earliest() {
    windows_.earliest.assign(hops_.places.size(), no_epoch);
    std::priority_queue<Visit, std::vector<Visit>, std::greater<>> queue;
    const auto visit = [&](Epoch epoch, PlaceId place) {
      if (epoch >= windows_.earliest[place.value]) return;
      windows_.earliest[place.value] = epoch;
      queue.emplace(epoch, place);
    };
    for (std::uint32_t v = 0; v < network_.node_count(); ++v) {
      if (windows_.settled[v]) visit(std::max(*windows_.settled[v], horizon_.begin), PlaceId{v});
      for (const Epoch arrival : windows_.past_arrivals[v]) visit(arrival, PlaceId{v});
    }
    while (!queue.empty()) {
      const auto [epoch, place] = queue.top();
      queue.pop();
      if (epoch > windows_.earliest[place.value]) continue;
      for (const std::uint32_t h : hops_.out[place.value])
        if (const EpochHop& hop = hops_.hops[h];
            epoch.value <= last_epoch(hop) && !settled_at(hop.to))
          visit(epoch + hop.delay, hop.to);
    }
  }

  // Backwards from destinations that it isn't settled at; where the horizon needn't finish, to
  // anywhere.
  void find_latest() {
    const std::int64_t last = horizon_.last().value;
    latest_.assign(hops_.places.size(), horizon_.must_finish ? never : last);
    std::priority_queue<std::pair<std::int64_t, PlaceId>> queue;
    const auto visit = [&](std::int64_t epoch, PlaceId place) {
      if (epoch <= latest_[place.value]) return;
      latest_[place.value] = epoch;
      queue.emplace(epoch, place);
    };
    for (const std::uint32_t v : chunk_.destinations)
      if (!windows_.settled[v]) visit(last, PlaceId{v});
    while (!queue.empty()) {
      const auto [epoch, place] = queue.top();
      queue.pop();
      if (epoch < latest_[place.value]) continue;
      for (const std::uint32_t h : hops_.in[place.value])
        visit(latest_send(hops_.hops[h]), hops_.hops[h].from);
    }
  }

  void find_sends() {
    for (const EpochHop& hop : hops_.hops) {
      EpochWindow window;
      const std::int64_t latest = latest_send(hop);
      const Epoch earliest = windows_.earliest[hop.from.value];
      if (!settled_at(hop.to) && earliest.value <= latest)
        window = {earliest, Epoch{static_cast<std::uint32_t>(latest)}};
      windows_.sends.push_back(window);
    }
  }

  // The nearest common dominator of all from where it comes, by `earliest`, until nothing changes
  // (Cooper, Harvey and Kennedy 2001, "A Simple, Fast Dominance Algorithm").
  void find_dominators() {
    std::vector<PlaceId> order;
    for (std::uint32_t p = 0; p < hops_.places.size(); ++p)
      if (windows_.earliest[p] != no_epoch) order.emplace_back(p);
    std::ranges::stable_sort(order, {}, [&](PlaceId p) { return windows_.earliest[p.value]; });
    std::vector<std::uint32_t> rank(hops_.places.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i].value] = i;
    windows_.dominator.resize(hops_.places.size());
    std::vector<bool> known(hops_.places.size());
    const auto common = [&](PlaceId a, PlaceId b) {
      while (a != b && a.valid() && b.valid()) {
        PlaceId& later = rank[a.value] < rank[b.value] ? b : a;
        later = windows_.dominator[later.value];
      }
      return a == b ? a : PlaceId{};
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (const PlaceId p : order) {
        std::optional<PlaceId> all;
        if (is_source(p)) all = PlaceId{};
        for (const std::uint32_t h : hops_.in[p.value])
          if (const PlaceId from = hops_.hops[h].from;
              !windows_.sends[h].empty() && (known[from.value] || is_source(from)))
            all = all ? common(*all, from) : from;
        if (!all || (known[p.value] && windows_.dominator[p.value] == *all)) continue;
        known[p.value] = changed = true;
        windows_.dominator[p.value] = *all;
      }
    }
  }
  [[nodiscard]] bool is_source(PlaceId place) const {
    const auto [node, stage] = hops_.place(place);
    return stage == 0 &&
           (windows_.settled[node].has_value() || !windows_.past_arrivals[node].empty());
  }

  [[nodiscard]] std::int64_t latest_send(const EpochHop& hop) const {
    return std::min(latest_[hop.to.value] - hop.delay, last_epoch(hop));
  }
  /// -1 in a horizon without epochs.
  [[nodiscard]] std::int64_t last_epoch(const EpochHop& hop) const {
    return std::int64_t{horizon_.end.value} - (hop.delay > 0 || !horizon_.is_last());
  }
  [[nodiscard]] bool settled_at(PlaceId place) const {
    return windows_.settled[hops_.place(place).node].has_value();
  }

  static constexpr std::int64_t never = -(std::int64_t{1} << 40);

  const EpochNetwork& network_;
  const TimedChunk& chunk_;
  const EpochHops& hops_;
  const EpochHorizon& horizon_;
  EpochWindows windows_;
  std::vector<std::int64_t> latest_; ///< [place] Later arrivals are of no use.
};

} // namespace

EpochHops epoch_hops(const EpochNetwork& network) { return Stages(network).hops(); }

EpochWindows epoch_windows(const EpochProblem& problem, const EpochHops& hops,
                           const EpochHorizon& horizon, ChunkId chunk,
                           const std::vector<EpochSend>& past) {
  return WindowSearch(problem, hops, horizon, chunk).run(past);
}

} // namespace tutti
