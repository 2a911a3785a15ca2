// A lower bound on the epochs of any plan: how far chunks must go, and how many must come into some
// set of nodes.
#include "sim/ratio.hpp"
#include "synth/teccl/epoch_problem.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// When a lane into a set of nodes is of any use: what enters it earlier or arrives later
/// isn't.
struct LaneTimes {
  std::uint32_t lane = 0;
  std::uint64_t first = 0; ///< epoch in which something can enter
  std::uint64_t tail = 0;  ///< epochs from the arrival to the end, at least
};

/// How many chunks some lanes let through within K epochs, at most.
class LaneSet {
public:
  LaneSet(const EpochNetwork& network, std::vector<LaneTimes> times)
      : network_(network), times_(std::move(times)) {
    std::map<std::uint32_t, std::vector<Use>> of_limit;
    for (std::uint32_t t = 0; t < times_.size(); ++t)
      for (const std::uint32_t limit : network.limits_of[times_[t].lane])
        for (const LaneUse& use : network.limits[limit].uses)
          if (use.lane == times_[t].lane) of_limit[limit].push_back({t, use.offset});
    uses_.assign(of_limit.begin(), of_limit.end());
  }

  /// Each lane counts with one of its limits: its own first, then with others where they let
  /// less through together.
  [[nodiscard]] std::uint64_t most(std::uint64_t epochs) const {
    std::vector<std::uint64_t> alone(times_.size(), UINT64_MAX);
    for (const auto& [limit, uses] : uses_)
      for (const Use& use : uses) {
        const std::uint64_t through = most(limit, std::span(&use, 1), epochs);
        alone[use.times] = std::min(alone[use.times], through);
      }
    std::uint64_t sum = 0;
    for (const auto& [limit, uses] : uses_) {
      std::uint64_t apart = 0;
      std::vector<Use> open;
      for (const Use& use : uses)
        if (alone[use.times] != counted) open.push_back(use);
      if (open.empty()) continue;
      for (std::size_t i = 0; i < open.size(); ++i)
        if (i == 0 || open[i].times != open[i - 1].times) apart += alone[open[i].times];
      const std::uint64_t together = most(limit, open, epochs);
      if (together >= apart) continue;
      sum += together;
      for (const Use& use : open) alone[use.times] = counted;
    }
    for (const std::uint64_t through : alone)
      if (through != counted) sum += through;
    return sum;
  }

  /// The least K, at least `from`, within which so many chunks can go through. Pre: a lane or none
  /// is asked for.
  [[nodiscard]] std::uint64_t fewest(std::uint64_t chunks, std::uint64_t from) const {
    if (most(from) >= chunks) return from;
    std::uint64_t few = from, enough = from + 1;
    while (most(enough) < chunks) few = enough, enough *= 2;
    while (few + 1 < enough) {
      const std::uint64_t middle = few + (enough - few) / 2;
      (most(middle) < chunks ? few : enough) = middle;
    }
    return enough;
  }

private:
  static constexpr std::uint64_t counted = UINT64_MAX - 1;
  struct Use {
    std::uint32_t times = 0; // index
    std::uint32_t offset = 0;
  };

  [[nodiscard]] std::uint64_t most(std::uint32_t limit, std::span<const Use> uses,
                                   std::uint64_t epochs) const {
    std::uint64_t begin = UINT64_MAX, end = 0; // epochs in which the limit is used
    for (const Use& use : uses) {
      const LaneTimes& times = times_[use.times];
      const std::uint64_t rest = network_.lanes[times.lane].delay + times.tail;
      if (times.first + rest > epochs) continue;
      begin = std::min(begin, times.first + use.offset);
      end = std::max(end, epochs - rest + use.offset + 1);
    }
    if (begin >= end) return 0;
    const EpochLimit& l = network_.limits[limit];
    return (end - begin + l.window - 1) / l.window * l.most;
  }

  const EpochNetwork& network_;
  std::vector<LaneTimes> times_;
  std::vector<std::pair<std::uint32_t, std::vector<Use>>> uses_; // by limit
};

/// Sets of nodes into which, or out of which, little may come: single nodes, and what hangs
/// together by lanes that are faster than others (the boxes of a cluster). Without the sets of all
/// and none.
class NarrowSets {
public:
  explicit NarrowSets(const EpochNetwork& network) : network_(network) {
    const std::vector<bool> none(network.node_count);
    for (std::uint32_t node = 0; node < network.node_count; ++node) {
      std::vector<bool> alone = none;
      alone[node] = true;
      add(std::move(alone));
    }
    std::set<Ratio> rates;
    for (std::uint32_t l = 0; l < network.lanes.size(); ++l) rates.insert(rate_of(l));
    for (const Ratio& rate : rates) add_components(rate);
  }

  [[nodiscard]] const std::set<std::vector<bool>>& sets() const { return sets_; }

private:
  void add(std::vector<bool> some) {
    if (std::ranges::count(some, false) == 0) return;
    std::vector<bool> others = some;
    others.flip();
    sets_.insert(std::move(some));
    sets_.insert(std::move(others));
  }

  [[nodiscard]] Ratio rate_of(std::uint32_t lane) const {
    Ratio least(INT32_MAX);
    for (const std::uint32_t limit : network_.limits_of[lane])
      least = std::min(least, Ratio(network_.limits[limit].most, network_.limits[limit].window));
    return least;
  }

  /// Of the lanes above a rate.
  void add_components(const Ratio& rate) {
    std::vector<std::vector<std::uint32_t>> next(network_.node_count);
    for (std::uint32_t l = 0; l < network_.lanes.size(); ++l) {
      if (rate_of(l) <= rate) continue;
      next[network_.lanes[l].from].push_back(network_.lanes[l].to);
      next[network_.lanes[l].to].push_back(network_.lanes[l].from);
    }
    std::vector<bool> seen(network_.node_count);
    for (std::uint32_t first = 0; first < network_.node_count; ++first) {
      if (seen[first]) continue;
      std::vector<bool> component(network_.node_count);
      std::vector<std::uint32_t> queue{first};
      component[first] = true;
      for (std::size_t i = 0; i < queue.size(); ++i)
        for (const std::uint32_t node : next[queue[i]]) {
          if (component[node]) continue;
          component[node] = true;
          queue.push_back(node);
        }
      for (const std::uint32_t node : queue) seen[node] = true;
      add(std::move(component));
    }
  }

  const EpochNetwork& network_;
  std::set<std::vector<bool>> sets_; // [node]
};

class EpochBound {
public:
  explicit EpochBound(const EpochProblem& problem) : problem_(problem) {
    for (const EpochChunk& chunk : problem.chunks) epochs_.push_back(&from(chunk.holders));
  }

  std::optional<std::uint32_t> fewest() {
    if (!by_distances()) return {};
    const NarrowSets narrow(problem_.network);
    for (const std::vector<bool>& inside : narrow.sets()) by_intake(inside);
    return static_cast<std::uint32_t>(fewest_);
  }

private:
  const std::vector<std::uint32_t>& from(const std::vector<std::uint32_t>& sources) {
    const auto known = from_.find(sources);
    if (known != from_.end()) return known->second;
    return from_.emplace(sources, problem_.network.epochs_from(sources)).first->second;
  }

  bool by_distances() {
    for (std::size_t c = 0; c < problem_.chunks.size(); ++c)
      for (const std::uint32_t wanter : problem_.chunks[c].wanters) {
        if ((*epochs_[c])[wanter] == out_of_epochs) return false;
        fewest_ = std::max<std::uint64_t>(fewest_, (*epochs_[c])[wanter]);
      }
    return true;
  }

  /// Each chunk that nobody of a set holds, and someone wants, comes over a lane into it, and then
  /// goes on to the farthest who wants it there.
  void by_intake(const std::vector<bool>& inside) {
    const EpochNetwork& network = problem_.network;
    const auto is_inside = [&](std::uint32_t node) { return inside[node]; };
    std::set<const std::vector<std::uint32_t>*> sources; // epochs from holders; in no order
    std::set<std::uint32_t> farthest;
    std::uint64_t entering = 0;
    for (std::size_t c = 0; c < problem_.chunks.size(); ++c) {
      const EpochChunk& chunk = problem_.chunks[c];
      if (std::ranges::any_of(chunk.holders, is_inside)) continue;
      std::optional<std::uint32_t> last;
      for (const std::uint32_t wanter : chunk.wanters)
        if (inside[wanter] && (!last || (*epochs_[c])[wanter] > (*epochs_[c])[*last]))
          last = wanter;
      if (!last) continue;
      ++entering;
      sources.insert(epochs_[c]);
      farthest.insert(*last);
    }
    if (entering == 0) return;
    std::vector<LaneTimes> times;
    for (std::uint32_t l = 0; l < network.lanes.size(); ++l) {
      const EpochLane& lane = network.lanes[l];
      if (inside[lane.from] || !inside[lane.to]) continue;
      std::uint32_t first = out_of_epochs, tail = out_of_epochs;
      for (const auto* epochs : sources) first = std::min(first, (*epochs)[lane.from]);
      const auto& onward = from({lane.to});
      for (const std::uint32_t wanter : farthest) tail = std::min(tail, onward[wanter]);
      if (first != out_of_epochs && tail != out_of_epochs) times.push_back({l, first, tail});
    }
    fewest_ = LaneSet(network, std::move(times)).fewest(entering, fewest_);
  }

  const EpochProblem& problem_;
  std::uint64_t fewest_ = 0;
  std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> from_; // by sources
  std::vector<const std::vector<std::uint32_t>*> epochs_;                 // [chunk][node]
};

} // namespace

std::optional<std::uint32_t> fewest_epochs(const EpochProblem& problem) {
  return EpochBound(problem).fewest();
}

} // namespace tutti
