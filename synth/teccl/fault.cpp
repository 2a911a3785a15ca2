// The checker of plans in epochs: reads EpochNetwork's lanes, limits and abilities and nothing that
// is derived from them (limits_of, distances_from, ...).
#include "synth/teccl/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

constexpr std::uint64_t never_there = UINT64_MAX;

std::string form_fault(const EpochProblem& problem, const EpochPlan& plan) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const EpochSend& send = plan[i];
    if (send.lane >= problem.network.lanes.size())
      return fmt::format("send {}: there is no lane {} (of {})", i, send.lane,
                         problem.network.lanes.size());
    if (send.chunk >= problem.chunks.size())
      return fmt::format("send {}: there is no chunk {} (of {})", i, send.chunk,
                         problem.chunks.size());
    if (i > 0 && plan[i - 1] >= send)
      return fmt::format("send {}: epoch {}, lane {}, chunk {} comes after epoch {}, lane {}, "
                         "chunk {}",
                         i, send.epoch, send.lane, send.chunk, plan[i - 1].epoch, plan[i - 1].lane,
                         plan[i - 1].chunk);
  }
  return "";
}

/// "epoch 3: node 0 sends chunk 1 to node 2 over lane 7"
std::string in_words(const EpochProblem& problem, const EpochSend& send) {
  const Lane& lane = problem.network.lanes[send.lane];
  return fmt::format("epoch {}: node {} sends chunk {} to node {} over lane {}", send.epoch,
                     lane.from, send.chunk, lane.to, send.lane);
}

/// Who has what from when on, and what passes through those who don't store.
class EpochRun {
public:
  EpochRun(const EpochProblem& problem, const EpochPlan& plan)
      : problem_(problem), plan_(plan), nodes_(problem.network.node_count()),
        since_(problem.chunks.size() * nodes_, never_there) {
    for (std::size_t c = 0; c < problem.chunks.size(); ++c)
      for (const std::uint32_t source : problem.chunks[c].sources) since_[c * nodes_ + source] = 0;
  }

  [[nodiscard]] std::string fault() {
    if (std::string fault = receive(); !fault.empty()) return fault;
    if (std::string fault = send(); !fault.empty()) return fault;
    if (std::string fault = pass(); !fault.empty()) return fault;
    if (std::string fault = unmet(); !fault.empty()) return fault;
    return crowded();
  }

private:
  /// What passes through a node that doesn't store, of one chunk in one epoch.
  struct Passing {
    std::uint32_t arrivals = 0;
    std::vector<std::size_t> sends; // indices into the plan
    bool there = false;             // something has come that doesn't hang on this epoch's sends
  };
  using Place = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>; // epoch, chunk, node

  [[nodiscard]] const Lane& lane_of(const EpochSend& send) const {
    return problem_.network.lanes[send.lane];
  }
  [[nodiscard]] bool stores(std::uint32_t node) const { return problem_.network.stores[node]; }
  [[nodiscard]] std::uint64_t& since(std::uint32_t chunk, std::uint32_t node) {
    return since_[chunk * nodes_ + node];
  }
  [[nodiscard]] bool holds_from_start(std::uint32_t chunk, std::uint32_t node) const {
    return std::ranges::binary_search(problem_.chunks[chunk].sources, node);
  }

  std::string receive() {
    for (const EpochSend& send : plan_) {
      const Lane& lane = lane_of(send);
      const std::uint64_t arrival = std::uint64_t{send.epoch} + lane.delay;
      if (!stores(lane.to)) continue;
      if (holds_from_start(send.chunk, lane.to))
        return fmt::format("{}, which holds it from the start", in_words(problem_, send));
      std::uint64_t& since_when = since(send.chunk, lane.to);
      if (since_when != never_there)
        return fmt::format("{}, where it arrives for epoch {} already", in_words(problem_, send),
                           since_when);
      since_when = arrival;
    }
    return "";
  }

  std::string send() {
    for (const EpochSend& send : plan_) {
      const Lane& lane = lane_of(send);
      if (!stores(lane.from)) continue;
      const std::uint64_t there = since(send.chunk, lane.from);
      if (there == never_there)
        return fmt::format("{}, but never has it", in_words(problem_, send));
      if (there > send.epoch)
        return fmt::format("{}, but has it from epoch {} on", in_words(problem_, send), there);
    }
    return "";
  }

  std::string pass() {
    std::map<Place, Passing> passing;
    std::vector<Place> reached;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      const EpochSend& send = plan_[i];
      const Lane& lane = lane_of(send);
      if (!stores(lane.from)) passing[{send.epoch, send.chunk, lane.from}].sends.push_back(i);
      if (stores(lane.to)) continue;
      const Place place{std::uint64_t{send.epoch} + lane.delay, send.chunk, lane.to};
      ++passing[place].arrivals;
      // Without delay it is there only if it was at the sender, which is seen below.
      if ((lane.delay > 0 || stores(lane.from)) && !std::exchange(passing[place].there, true))
        reached.push_back(place);
    }
    spread(passing, reached);
    for (const auto& [place, here] : passing) {
      if (here.sends.empty()) continue;
      const EpochSend& first = plan_[here.sends.front()];
      const std::uint32_t node = std::get<2>(place);
      if (!here.there)
        return fmt::format("{}, but can't store, and nothing of it arrives for that epoch",
                           in_words(problem_, first));
      if (!problem_.network.copies[node] && here.sends.size() > here.arrivals)
        return fmt::format("epoch {}: node {} passes chunk {} on {} times, but can't copy, and it "
                           "arrives {} times",
                           first.epoch, node, first.chunk, here.sends.size(), here.arrivals);
    }
    return "";
  }

  /// Through lanes without delay.
  void spread(std::map<Place, Passing>& passing, std::vector<Place>& reached) const {
    while (!reached.empty()) {
      const Place place = reached.back();
      reached.pop_back();
      for (const std::size_t i : passing[place].sends) {
        const Lane& lane = lane_of(plan_[i]);
        if (lane.delay > 0 || stores(lane.to)) continue;
        const Place next{plan_[i].epoch, plan_[i].chunk, lane.to};
        if (!std::exchange(passing[next].there, true)) reached.push_back(next);
      }
    }
  }

  [[nodiscard]] std::string unmet() const {
    for (std::size_t c = 0; c < problem_.chunks.size(); ++c)
      for (const std::uint32_t destination : problem_.chunks[c].destinations)
        if (since_[c * nodes_ + destination] == never_there)
          return fmt::format("node {} never gets chunk {}", destination, c);
    return "";
  }

  /// The buffer limit: what a node keeps for others begins and ends.
  [[nodiscard]] std::string crowded() {
    if (!problem_.buffer_limit) return "";
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> last; // by node, chunk
    for (const EpochSend& send : plan_) {
      const std::uint32_t node = lane_of(send).from;
      if (!stores(node) || holds_from_start(send.chunk, node) ||
          std::ranges::binary_search(problem_.chunks[send.chunk].destinations, node))
        continue;
      last[{node, send.chunk}] = send.epoch; // ascending
    }
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> change; // by node, epoch
    for (const auto& [kept, epoch] : last) {
      ++change[{kept.first, since(kept.second, kept.first)}];
      --change[{kept.first, epoch + 1}];
    }
    std::int64_t count = 0; // 0 again after a node's last change
    for (const auto& [when, by] : change) {
      count += by;
      if (count > std::int64_t{*problem_.buffer_limit})
        return fmt::format("epoch {}: node {} keeps {} chunks for others, more than {}",
                           when.second, when.first, count, *problem_.buffer_limit);
    }
    return "";
  }

  const EpochProblem& problem_;
  const EpochPlan& plan_;
  std::size_t nodes_;
  std::vector<std::uint64_t> since_; // [chunk][node that stores]
};

/// Of the epochs in which a limit is used, no `most` + 1 lie within one window.
std::string limits_fault(const EpochProblem& problem, const EpochPlan& plan) {
  std::vector<std::vector<std::uint64_t>> entries(problem.network.lanes.size()); // [lane]
  for (const EpochSend& send : plan) entries[send.lane].push_back(send.epoch);
  std::vector<std::uint64_t> used;
  for (const EpochLimit& limit : problem.network.limits) {
    used.clear();
    for (const LaneUse& use : limit.uses)
      for (const std::uint64_t epoch : entries[use.lane]) used.push_back(epoch + use.offset);
    std::ranges::sort(used);
    for (std::size_t i = limit.most; i < used.size(); ++i)
      if (used[i] - used[i - limit.most] < limit.window)
        return fmt::format("{} is used {} times in epochs {} to {}: {} times in {} {} are possible",
                           limit.name, std::size_t{limit.most} + 1, used[i - limit.most], used[i],
                           limit.most, limit.window, limit.window == 1 ? "epoch" : "epochs");
  }
  return "";
}

} // namespace

std::string epoch_fault(const EpochProblem& problem, const EpochPlan& plan) {
  if (std::string fault = form_fault(problem, plan); !fault.empty()) return fault;
  if (std::string fault = EpochRun(problem, plan).fault(); !fault.empty()) return fault;
  return limits_fault(problem, plan);
}

} // namespace tutti
