// A lower bound on the epochs of any plan: how far chunks must go, and how many must come into a
// node or out of one, or through any other narrow place.
#include "synth/teccl/bounds/fewest_epochs.hpp"

#include "synth/flows/packing/supply_flow.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// Chunks an epoch, in millionths.
std::int64_t rate(const EpochNetwork& network, std::uint32_t lane) {
  constexpr std::int64_t whole = 1'000'000;
  std::int64_t least = whole * 1'000;
  for (const auto [i] : network.limits_of[lane])
    least = std::min(least, whole * network.limits[i].most / network.limits[i].window);
  return least;
}

/// What can't get more from `source`; nothing where all of it can.
std::vector<bool> cut_off(const ArcGraph& graph, const std::vector<std::int64_t>& rates,
                          std::uint32_t source, std::uint32_t sink) {
  constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max() / 4;
  SupplyFlow flow(graph);
  std::vector<std::int64_t> flows(rates.size()), supply(graph.node_count());
  supply[source] = endless;
  flow.send(rates, flows, supply, sink, endless);
  return flow.sink_side();
}

/// [node]: whether it is of the set. Each node alone, all but each node, and the narrowest cuts
/// between the first node and each other, in both directions; each once. Lanes count with the
/// narrowest of their limits. Cost: twice as many maximum flows as nodes; where the problem's limit
/// is reached, those that were found by then.
std::vector<std::vector<bool>> narrow_cuts(const EpochProblem& problem) {
  const EpochNetwork& network = problem.network;
  ArcGraph graph(network.node_count());
  std::vector<std::int64_t> rates;
  for (std::uint32_t l = 0; l < network.lanes.size(); ++l) {
    graph.add_arc(network.lanes[l].from, network.lanes[l].to);
    rates.push_back(rate(network, l));
  }
  std::vector<std::vector<bool>> cuts;
  std::set<std::vector<bool>> known;
  const auto add = [&](std::vector<bool> cut) {
    if (known.insert(cut).second) cuts.push_back(std::move(cut));
  };
  for (std::uint32_t n = 0;
       n < network.node_count() && !(problem.limit != nullptr && problem.limit->reached()); ++n) {
    std::vector<bool> alone(network.node_count());
    alone[n] = true;
    std::vector<bool> others = alone;
    others.flip();
    add(std::move(alone));
    add(std::move(others));
    if (n == 0) continue;
    add(cut_off(graph, rates, 0, n));
    add(cut_off(graph, rates, n, 0));
  }
  return cuts;
}

/// When a lane into a set of nodes is of any use: what enters it earlier or arrives later isn't.
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
      for (const auto [limit] : network.limits_of[times_[t].lane])
        for (const LaneUse& use : network.limits[limit].uses)
          if (use.lane.value == times_[t].lane) of_limit[limit].push_back({t, use.offset});
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

class EpochBound {
public:
  explicit EpochBound(const EpochProblem& problem) : problem_(problem) {}

  std::optional<std::uint32_t> fewest() {
    if (!by_distances()) return {};
    for (const std::vector<bool>& inside : narrow_cuts(problem_)) {
      if (problem_.limit != nullptr && problem_.limit->reached())
        break; // the others could only show more
      by_cut(inside);
    }
    return static_cast<std::uint32_t>(fewest_);
  }

private:
  const std::vector<std::uint32_t>& from(const std::vector<std::uint32_t>& sources) {
    const auto known = from_.find(sources);
    if (known != from_.end()) return known->second;
    return from_.emplace(sources, problem_.network.distances_from(sources)).first->second;
  }

  bool by_distances() {
    for (const TimedChunk& chunk : problem_.chunks) {
      problem_.require_time();
      for (const std::uint32_t destination : chunk.destinations) {
        const std::uint32_t epochs = from(chunk.sources)[destination];
        if (epochs == unreachable) return false;
        fewest_ = std::max<std::uint64_t>(fewest_, epochs);
      }
    }
    return true;
  }

  /// Each chunk that is only outside at the start, and wanted inside, enters at least once, and has
  /// then a path to go to the destination for whom it is longest from the nearest entrance.
  void by_cut(const std::vector<bool>& inside) {
    const std::vector<std::uint32_t> entrances = lanes_into(inside);
    std::vector<std::uint32_t> heads;
    for (const std::uint32_t lane : entrances) heads.push_back(problem_.network.lanes[lane].to);
    const std::vector<std::uint32_t>& depth = from(heads);
    std::uint64_t entering = 0;
    std::set<std::uint32_t> destinations;
    std::vector<std::uint32_t> first(problem_.network.node_count(), unreachable);
    for (const TimedChunk& chunk : problem_.chunks) {
      const std::optional<std::uint32_t> deepest = deepest_destination(chunk, inside, depth);
      if (!deepest) continue;
      ++entering;
      destinations.insert(*deepest);
      const std::vector<std::uint32_t>& epochs = from(chunk.sources);
      for (std::size_t n = 0; n < first.size(); ++n) first[n] = std::min(first[n], epochs[n]);
    }
    if (entering == 0) return;
    std::vector<LaneTimes> times;
    for (const std::uint32_t lane : entrances) {
      std::uint32_t tail = unreachable;
      for (const std::uint32_t destination : destinations)
        tail = std::min(tail, from({problem_.network.lanes[lane].to})[destination]);
      const std::uint32_t epoch = first[problem_.network.lanes[lane].from];
      if (tail != unreachable && epoch != unreachable) times.push_back({lane, epoch, tail});
    }
    fewest_ = LaneSet(problem_.network, std::move(times)).fewest(entering, fewest_);
  }

  [[nodiscard]] std::vector<std::uint32_t> lanes_into(const std::vector<bool>& inside) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t l = 0; l < problem_.network.lanes.size(); ++l)
      if (!inside[problem_.network.lanes[l].from] && inside[problem_.network.lanes[l].to])
        found.push_back(l);
    return found;
  }

  /// Nothing where a source is inside, or no destination.
  [[nodiscard]] static std::optional<std::uint32_t>
  deepest_destination(const TimedChunk& chunk, const std::vector<bool>& inside,
                      const std::vector<std::uint32_t>& depth) {
    std::optional<std::uint32_t> deepest;
    if (std::ranges::any_of(chunk.sources, [&](std::uint32_t n) { return inside[n]; }))
      return deepest;
    for (const std::uint32_t destination : chunk.destinations)
      if (inside[destination] && (!deepest || depth[destination] > depth[*deepest]))
        deepest = destination;
    return deepest;
  }

  const EpochProblem& problem_;
  std::uint64_t fewest_ = 0;
  std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> from_; // by sources
};

} // namespace

std::optional<std::uint32_t> fewest_epochs(const EpochProblem& problem) {
  return EpochBound(problem).fewest();
}

} // namespace tutti
