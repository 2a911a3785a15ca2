#include "synth/teccl/rounds/switch_paths.hpp"

#include "synth/teccl/capacity_calendar.hpp"

#include <algorithm>
#include <tuple>

namespace tutti {

namespace {

// Backwards from the end of a way; `way` holds the lanes so far, last one first.
class PassagesBackwards {
public:
  PassagesBackwards(const EpochNetwork& network, std::vector<EpochPassage>& found)
      : network_(&network), found_(&found), visited_(network.node_count()) {}

  void extend(std::uint32_t node, std::uint32_t delay) {
    visited_[node] = true;
    for (const std::uint32_t id : network_->in_lanes[node]) {
      const Lane& lane = network_->lanes[id];
      if (visited_[lane.from]) continue;
      lanes_.push_back(id);
      found_->push_back({lane.from, delay + lane.delay, {lanes_.rbegin(), lanes_.rend()}});
      if (!network_->stores[lane.from]) extend(lane.from, delay + lane.delay);
      lanes_.pop_back();
    }
    visited_[node] = false;
  }

private:
  const EpochNetwork* network_;
  std::vector<EpochPassage>* found_;
  std::vector<bool> visited_;
  std::vector<std::uint32_t> lanes_;
};

} // namespace

std::vector<std::vector<EpochPassage>> epoch_passages(const EpochNetwork& network) {
  std::vector<std::vector<EpochPassage>> ways(network.node_count());
  EpochRoom room(network);
  for (std::uint32_t to = 0; to < network.node_count(); ++to) {
    if (!network.stores[to]) continue;
    PassagesBackwards(network, ways[to]).extend(to, 0);
    std::erase_if(ways[to], [&](const EpochPassage& way) {
      if (!room.take(way.lanes, 0)) return true;
      room.give_back(way.lanes, 0);
      return false;
    });
    std::ranges::sort(ways[to], [](const EpochPassage& a, const EpochPassage& b) {
      return std::tuple(a.delay, a.lanes.size(), a.lanes) <
             std::tuple(b.delay, b.lanes.size(), b.lanes);
    });
  }
  return ways;
}

} // namespace tutti
