// When each node that stores has each chunk follows from the arrivals alone, as it receives it only
// once; so all of them are taken down before any sender is asked. What passes through nodes that
// don't store is counted by time, chunk and node. Over lanes without delay these pass on to each
// other within one time: there a chunk counts as arrived only if a chain of sends leads back to one
// who stores or to a lane with delay, so that cycles feed nobody.
#include "synth/timed/plan_fault.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

class PlanRun {
public:
  explicit PlanRun(const TimedPlan& plan)
      : plan_(plan), nodes_(plan.stores.size()),
        since_(plan.chunks.size() * plan.chunks_per_shard * nodes_, never) {}

  std::optional<PlanFault> fault() {
    if (auto found = form()) return found;
    for (std::uint32_t c = 0; c < plan_.chunks.size() * plan_.chunks_per_shard; ++c)
      for (const std::uint32_t source : asked(ChunkId{c}).sources) since(ChunkId{c}, source) = 0;
    if (auto found = receive()) return found;
    if (auto found = send()) return found;
    if (auto found = pass()) return found;
    return unmet();
  }

private:
  static constexpr std::uint64_t never = UINT64_MAX;

  /// What passes through a node that doesn't store, of one chunk at one time.
  struct Passing {
    std::size_t arrivals = 0;
    std::vector<std::size_t> sends; // indices into the plan
    bool there = false;             // something has come that doesn't depend on sends of this time
  };
  using Place = std::tuple<std::uint64_t, ChunkId, std::uint32_t>; // time, chunk, node

  [[nodiscard]] const Lane& lane_of(const TimedSend& send) const {
    return plan_.lanes[send.lane.value];
  }
  [[nodiscard]] const TimedChunk& asked(ChunkId chunk) const {
    return plan_.chunks[chunk.value / plan_.chunks_per_shard];
  }

  [[nodiscard]] std::uint64_t& since(ChunkId chunk, std::uint32_t node) {
    return since_[std::size_t{chunk.value} * nodes_ + node];
  }
  [[nodiscard]] std::uint64_t since(ChunkId chunk, std::uint32_t node) const {
    return since_[std::size_t{chunk.value} * nodes_ + node];
  }

  [[nodiscard]] std::optional<PlanFault> form() const {
    const auto key = [](const TimedSend& send) {
      return std::tuple(send.time, send.lane, send.chunk);
    };
    for (std::size_t i = 0; i < plan_.sends.size(); ++i) {
      if (plan_.sends[i].lane.value >= plan_.lanes.size())
        return PlanFault{PlanRule::lanes_exist, i};
      if (plan_.sends[i].chunk.value >= plan_.chunks.size() * plan_.chunks_per_shard)
        return PlanFault{PlanRule::chunks_exist, i};
      if (i > 0 && key(plan_.sends[i - 1]) > key(plan_.sends[i]))
        return PlanFault{PlanRule::in_order, i};
    }
    return std::nullopt;
  }

  std::optional<PlanFault> receive() {
    for (std::size_t i = 0; i < plan_.sends.size(); ++i) {
      const TimedSend& send = plan_.sends[i];
      const Lane& lane = lane_of(send);
      if (!plan_.stores[lane.to]) continue;
      if (std::ranges::binary_search(asked(send.chunk).sources, lane.to))
        return PlanFault{PlanRule::none_had_it, i};
      std::uint64_t& arrival = since(send.chunk, lane.to);
      if (arrival != never) return PlanFault{PlanRule::once, i, arrival};
      arrival = std::uint64_t{send.time} + lane.delay;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<PlanFault> send() const {
    for (std::size_t i = 0; i < plan_.sends.size(); ++i) {
      const TimedSend& send = plan_.sends[i];
      const Lane& lane = lane_of(send);
      if (!plan_.stores[lane.from]) continue;
      const std::uint64_t arrival = since(send.chunk, lane.from);
      if (arrival == never) return PlanFault{PlanRule::sender_has_it, i};
      if (arrival > send.time) return PlanFault{PlanRule::sender_has_it_yet, i, arrival};
    }
    return std::nullopt;
  }

  std::optional<PlanFault> pass() const {
    std::map<Place, Passing> passing;
    std::vector<Place> reached;
    for (std::size_t i = 0; i < plan_.sends.size(); ++i) {
      const TimedSend& send = plan_.sends[i];
      const Lane& lane = lane_of(send);
      if (!plan_.stores[lane.from]) passing[{send.time, send.chunk, lane.from}].sends.push_back(i);
      if (plan_.stores[lane.to]) continue;
      const Place place{std::uint64_t{send.time} + lane.delay, send.chunk, lane.to};
      ++passing[place].arrivals;
      // Without delay it is there only if it was at the sender, which is seen below.
      if ((lane.delay > 0 || plan_.stores[lane.from]) && !std::exchange(passing[place].there, true))
        reached.push_back(place);
    }
    spread(passing, reached);
    for (const auto& [place, here] : passing) {
      if (here.sends.empty()) continue;
      const auto& [time, chunk, node] = place;
      if (!here.there) return PlanFault{PlanRule::something_arrives, here.sends.front()};
      if (!plan_.copies[node] && here.sends.size() > here.arrivals)
        return PlanFault{PlanRule::passed_on_once, here.sends.front(), time, node, chunk,
                         here.sends.size(),        here.arrivals};
    }
    return std::nullopt;
  }

  /// Through lanes without delay.
  void spread(std::map<Place, Passing>& passing, std::vector<Place>& reached) const {
    while (!reached.empty()) {
      const Place place = reached.back();
      reached.pop_back();
      for (const std::size_t i : passing[place].sends) {
        const TimedSend& send = plan_.sends[i];
        const Lane& lane = lane_of(send);
        if (lane.delay > 0 || plan_.stores[lane.to]) continue;
        const Place next{send.time, send.chunk, lane.to};
        if (!std::exchange(passing[next].there, true)) reached.push_back(next);
      }
    }
  }

  [[nodiscard]] std::optional<PlanFault> unmet() const {
    for (std::uint32_t c = 0; c < plan_.chunks.size(); ++c)
      for (const std::uint32_t node : plan_.chunks[c].destinations)
        for (std::uint32_t k = 0; k < plan_.chunks_per_shard; ++k)
          if (const ChunkId chunk{c * plan_.chunks_per_shard + k}; since(chunk, node) == never)
            return PlanFault{.rule = PlanRule::demands_met, .node = node, .chunk = chunk};
    return std::nullopt;
  }

  const TimedPlan& plan_;
  std::size_t nodes_;
  std::vector<std::uint64_t> since_; // [chunk][node that stores]
};

} // namespace

std::optional<PlanFault> plan_fault(const TimedPlan& plan) { return PlanRun(plan).fault(); }

} // namespace tutti
