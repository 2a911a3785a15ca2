// Earliest arrivals by Dijkstra's algorithm from the sources, latest useful ones backwards from the
// destinations; a send is of use between the two.
#include "synth/teccl/one_shot/windows.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace tutti {

namespace {

using Visit = std::pair<std::uint32_t, std::uint32_t>; // epoch, place

class WindowSearch {
public:
  WindowSearch(const EpochProblem& problem, const EpochHops& hops, const EpochHorizon& horizon,
               std::uint32_t chunk)
      : network_(problem.network), chunk_(problem.chunks[chunk]), hops_(hops), horizon_(horizon) {}

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
      if (network_.stores[v]) windows_.settled[v] = 0;
    for (const EpochSend& send : past) {
      const Lane& lane = network_.lanes[send.lane];
      const std::uint32_t arrival = send.epoch + lane.delay;
      if (network_.stores[lane.to])
        windows_.settled[lane.to] = std::min(windows_.settled[lane.to].value_or(arrival), arrival);
      else if (arrival >= horizon_.begin)
        windows_.past_arrivals[lane.to].push_back(arrival);
    }
  }

  void find_earliest() {
    windows_.earliest.assign(hops_.places.size(), out_of_epochs);
    std::priority_queue<Visit, std::vector<Visit>, std::greater<>> queue;
    const auto visit = [&](std::uint32_t epoch, std::uint32_t place) {
      if (epoch >= windows_.earliest[place]) return;
      windows_.earliest[place] = epoch;
      queue.emplace(epoch, place);
    };
    for (std::uint32_t v = 0; v < network_.node_count(); ++v) {
      if (windows_.settled[v]) visit(std::max(*windows_.settled[v], horizon_.begin), v);
      for (const std::uint32_t arrival : windows_.past_arrivals[v]) visit(arrival, v);
    }
    while (!queue.empty()) {
      const auto [epoch, place] = queue.top();
      queue.pop();
      if (epoch > windows_.earliest[place]) continue;
      for (const std::uint32_t h : hops_.out[place])
        if (const EpochHop& hop = hops_.hops[h]; epoch <= last_epoch(hop) && !settled_at(hop.to))
          visit(epoch + hop.delay, hop.to);
    }
  }

  // Backwards from those who lack it; where the horizon needn't finish, to anywhere.
  void find_latest() {
    const std::int64_t last = std::int64_t{horizon_.end} + horizon_.beyond;
    latest_.assign(hops_.places.size(), horizon_.must_finish ? never : last);
    std::priority_queue<std::pair<std::int64_t, std::uint32_t>> queue;
    const auto visit = [&](std::int64_t epoch, std::uint32_t place) {
      if (epoch <= latest_[place]) return;
      latest_[place] = epoch;
      queue.emplace(epoch, place);
    };
    for (const std::uint32_t v : chunk_.destinations)
      if (!windows_.settled[v]) visit(last, v);
    while (!queue.empty()) {
      const auto [epoch, place] = queue.top();
      queue.pop();
      if (epoch < latest_[place]) continue;
      for (const std::uint32_t h : hops_.in[place])
        visit(latest_send(hops_.hops[h]), hops_.hops[h].from);
    }
  }

  void find_sends() {
    for (const EpochHop& hop : hops_.hops) {
      EpochWindow window;
      const std::int64_t latest = latest_send(hop);
      if (!settled_at(hop.to) && windows_.earliest[hop.from] <= latest)
        window = {windows_.earliest[hop.from], static_cast<std::uint32_t>(latest)};
      windows_.sends.push_back(window);
    }
  }

  // The nearest common dominator of all from where it comes, by `earliest`, until nothing changes
  // (Cooper, Harvey and Kennedy 2001, "A Simple, Fast Dominance Algorithm").
  void find_dominators() {
    std::vector<std::uint32_t> order, rank(hops_.places.size());
    for (std::uint32_t p = 0; p < hops_.places.size(); ++p)
      if (windows_.earliest[p] != out_of_epochs) order.push_back(p);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t p) { return windows_.earliest[p]; });
    for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    windows_.dominator.assign(hops_.places.size(), out_of_epochs);
    std::vector<bool> known(hops_.places.size());
    const auto common = [&](std::uint32_t a, std::uint32_t b) {
      while (a != b && a != out_of_epochs && b != out_of_epochs)
        (rank[a] < rank[b] ? b : a) = windows_.dominator[rank[a] < rank[b] ? b : a];
      return a == b ? a : out_of_epochs;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::uint32_t p : order) {
        std::optional<std::uint32_t> all;
        if (is_source(p)) all = out_of_epochs;
        for (const std::uint32_t h : hops_.in[p])
          if (const std::uint32_t from = hops_.hops[h].from;
              !windows_.sends[h].empty() && (known[from] || is_source(from)))
            all = all ? common(*all, from) : from;
        if (!all || (known[p] && windows_.dominator[p] == *all)) continue;
        known[p] = changed = true;
        windows_.dominator[p] = *all;
      }
    }
  }
  [[nodiscard]] bool is_source(std::uint32_t place) const {
    const auto [node, stage] = hops_.places[place];
    return stage == 0 &&
           (windows_.settled[node].has_value() || !windows_.past_arrivals[node].empty());
  }

  [[nodiscard]] std::int64_t latest_send(const EpochHop& hop) const {
    return std::min(latest_[hop.to] - hop.delay, last_epoch(hop));
  }
  /// -1 in a horizon without epochs.
  [[nodiscard]] std::int64_t last_epoch(const EpochHop& hop) const {
    return std::int64_t{horizon_.end} - (hop.delay > 0 || !horizon_.is_last());
  }
  [[nodiscard]] bool settled_at(std::uint32_t place) const {
    const std::uint32_t node = hops_.places[place].node;
    return windows_.settled[node].has_value();
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

EpochWindows epoch_windows(const EpochProblem& problem, const EpochHops& hops,
                           const EpochHorizon& horizon, std::uint32_t chunk,
                           const std::vector<EpochSend>& past) {
  return WindowSearch(problem, hops, horizon, chunk).run(past);
}

} // namespace tutti
