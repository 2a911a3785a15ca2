// Which sends of a plan are of use: walking back from each chunk's destinations.
#include "synth/teccl/needed_sends.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

constexpr std::uint32_t no_send = EpochForest::root;

class NeededSends {
public:
  NeededSends(const EpochProblem& problem, const EpochPlan& plan)
      : problem_(problem), plan_(plan),
        brought_(problem.chunks.size() * problem.network.node_count(), no_send),
        parent_(plan.size(), no_send), needed_(plan.size()) {
    for (std::uint32_t i = 0; i < plan.size(); ++i) {
      const Lane& lane = lane_of(i);
      if (stores(lane.to))
        brought(plan[i].chunk, lane.to) = i;
      else
        arrivals_[{plan[i].epoch + lane.delay, plan[i].chunk, lane.to}].sends.push_back(i);
    }
    order_arrivals();
  }

  EpochForest forest() && {
    for (std::uint32_t c = 0; c < problem_.chunks.size(); ++c)
      for (const std::uint32_t destination : problem_.chunks[c].destinations)
        need(brought(ChunkId{c}, destination));
    while (!open_.empty()) {
      const std::uint32_t send = open_.back();
      open_.pop_back();
      const std::uint32_t from = lane_of(send).from;
      if (!stores(from)) {
        parent_[send] = arrival_for(send);
        need(parent_[send]);
      } else if (!std::ranges::binary_search(problem_.chunks[plan_[send].chunk.value].sources,
                                             from)) {
        need(brought(plan_[send].chunk, from));
      }
    }
    return kept();
  }

private:
  using Place = std::tuple<Epoch, ChunkId, std::uint32_t>; // the last: node
  /// What comes to a node that doesn't store, of one chunk for one epoch.
  struct Arrivals {
    std::vector<std::uint32_t> sends;
    std::size_t used = 0;
    std::uint32_t hops = no_send; // without delay since one that had some; no_send: not seen
  };

  [[nodiscard]] const Lane& lane_of(std::uint32_t send) const {
    return problem_.network.lane(plan_[send].lane);
  }
  [[nodiscard]] bool stores(std::uint32_t node) const { return problem_.network.stores[node]; }
  [[nodiscard]] std::uint32_t& brought(ChunkId chunk, std::uint32_t node) {
    return brought_[std::size_t{chunk.value} * problem_.network.node_count() + node];
  }

  /// Lanes without delay can form cycles: what has come over the fewest of them stands
  /// first, so that no send depends on itself.
  void order_arrivals() {
    std::map<Place, std::vector<std::uint32_t>> instant; // sends without delay, by their sender
    for (std::uint32_t i = 0; i < plan_.size(); ++i)
      if (lane_of(i).delay == 0 && !stores(lane_of(i).to))
        instant[{plan_[i].epoch, plan_[i].chunk, lane_of(i).from}].push_back(i);
    if (instant.empty()) return;
    std::vector<Place> queue;
    for (auto& [place, here] : arrivals_)
      if (std::ranges::any_of(here.sends, [&](std::uint32_t i) { return lane_of(i).delay > 0; })) {
        here.hops = 0;
        queue.push_back(place);
      }
    for (std::size_t q = 0; q < queue.size(); ++q) {
      const auto sends = instant.find(queue[q]);
      if (sends == instant.end()) continue;
      const std::uint32_t hops = arrivals_.at(queue[q]).hops + 1;
      for (const std::uint32_t i : sends->second) {
        const Place next{plan_[i].epoch, plan_[i].chunk, lane_of(i).to};
        if (std::uint32_t& known = arrivals_.at(next).hops; known == no_send) {
          known = hops;
          queue.push_back(next);
        }
      }
    }
    const auto hops_of = [&](std::uint32_t i) -> std::uint32_t {
      if (lane_of(i).delay > 0) return 0;
      return arrivals_.at({plan_[i].epoch, plan_[i].chunk, lane_of(i).from}).hops + 1;
    };
    for (auto& [place, here] : arrivals_) std::ranges::stable_sort(here.sends, {}, hops_of);
  }

  std::uint32_t arrival_for(std::uint32_t send) {
    const std::uint32_t from = lane_of(send).from;
    Arrivals& here = arrivals_.at({plan_[send].epoch, plan_[send].chunk, from});
    if (problem_.network.copies[from]) return here.sends.front();
    assert(here.used < here.sends.size());
    return here.sends[here.used++];
  }

  void need(std::uint32_t send) {
    assert(send != no_send);
    if (needed_[send]) return;
    needed_[send] = true;
    open_.push_back(send);
  }

  [[nodiscard]] EpochForest kept() const {
    EpochForest forest;
    std::vector<std::uint32_t> index(plan_.size(), no_send);
    for (std::uint32_t i = 0; i < plan_.size(); ++i) {
      if (!needed_[i]) continue;
      index[i] = static_cast<std::uint32_t>(forest.sends.size());
      forest.sends.push_back(plan_[i]);
    }
    for (std::uint32_t i = 0; i < plan_.size(); ++i)
      if (needed_[i])
        forest.parent.push_back(parent_[i] == no_send ? EpochForest::root : index[parent_[i]]);
    return forest;
  }

  const EpochProblem& problem_;
  const EpochPlan& plan_;
  std::map<Place, Arrivals> arrivals_;
  std::vector<std::uint32_t> brought_; // [chunk][node that stores]
  std::vector<std::uint32_t> parent_;
  std::vector<bool> needed_;
  std::vector<std::uint32_t> open_; // needed, and not yet looked at
};

} // namespace

EpochForest needed_sends(const EpochProblem& problem, const EpochPlan& plan) {
  return NeededSends(problem, plan).forest();
}

EpochPlan without_useless(const EpochProblem& problem, const EpochPlan& plan) {
  return needed_sends(problem, plan).sends;
}

} // namespace tutti
