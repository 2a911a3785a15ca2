#include "synth/teccl/rounds/potentials.hpp"

#include <functional>
#include <queue>
#include <utility>

namespace tutti {

EpochDistances::EpochDistances(std::span<const std::vector<EpochPassage>> passages)
    : nodes_(static_cast<std::uint32_t>(passages.size())),
      away_(std::size_t{nodes_} * nodes_, out_of_epochs) {
  using Visit = std::pair<std::uint32_t, std::uint32_t>; // distance, node
  for (std::uint32_t to = 0; to < nodes_; ++to) {        // backwards
    std::priority_queue<Visit, std::vector<Visit>, std::greater<>> queue;
    const auto visit = [&](std::uint32_t away, std::uint32_t node) {
      std::uint32_t& known = away_[std::size_t{node} * nodes_ + to];
      if (away >= known) return;
      known = away;
      queue.emplace(away, node);
    };
    visit(0, to);
    while (!queue.empty()) {
      const auto [away, node] = queue.top();
      queue.pop();
      if (away > away_[std::size_t{node} * nodes_ + to]) continue;
      for (const EpochPassage& passage : passages[node]) visit(away + passage.delay, passage.from);
    }
  }
}

double closeness(std::uint32_t distance) {
  if (distance == 0) return 1;
  return distance == out_of_epochs ? 0 : 0.5 / (1.0 + distance);
}

} // namespace tutti
