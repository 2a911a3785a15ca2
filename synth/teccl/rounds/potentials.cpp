#include "synth/teccl/rounds/potentials.hpp"

#include "sim/graphs/shortest_paths.hpp"

#include <vector>

namespace tutti {

EpochDistances::EpochDistances(std::span<const std::vector<EpochPassage>> passages)
    : nodes_(static_cast<std::uint32_t>(passages.size())),
      away_(std::size_t{nodes_} * nodes_, out_of_epochs) {
  for (std::uint32_t to = 0; to < nodes_; ++to) {
    std::vector<std::uint32_t> away(nodes_, out_of_epochs);
    search_shortest_paths(away, {&to, 1}, [&](auto node, auto rest, const auto& relax) {
      for (const EpochPassage& passage : passages[node]) relax(passage.from, rest + passage.delay);
    });
    for (std::uint32_t from = 0; from < nodes_; ++from)
      away_[std::size_t{from} * nodes_ + to] = away[from];
  }
}

double closeness(std::uint32_t distance) {
  if (distance == 0) return 1;
  return distance == out_of_epochs ? 0 : 0.5 / (1.0 + distance);
}

} // namespace tutti
