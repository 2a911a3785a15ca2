// Needed sends form forests: a tree from a node that stores through switches to others that do. A
// branch at a switch ends one transfer and begins others; transfers of one epoch are ordered by how
// many transfers of their chunk must be before them.
#include "synth/teccl/schedule.hpp"

#include "synth/teccl/needed_sends.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tutti {

namespace {

/// Turns trees of sends, each from one who stores through switches to others who do, into
/// transfers.
class EpochTransfers {
public:
  EpochTransfers(const EpochProblem& problem, EpochForest forest)
      : problem_(problem), forest_(std::move(forest)), children_(forest_.sends.size()) {
    for (std::uint32_t i = 0; i < forest_.sends.size(); ++i)
      if (forest_.parent[i] != EpochForest::root) children_[forest_.parent[i]].push_back(i);
  }

  Schedule schedule(std::uint32_t link_count) && {
    for (std::uint32_t i = 0; i < forest_.sends.size(); ++i)
      if (forest_.parent[i] == EpochForest::root) extend({i, i, {}}, i);
    for (std::uint32_t w = 0; w < paths_.size(); ++w)
      bringing_[place(chunk_of(paths_[w]), lane_of(paths_[w].last).to)] = w;
    depth_.assign(paths_.size(), unknown);
    std::vector<std::uint32_t> order;
    for (std::uint32_t w = 0; w < paths_.size(); ++w) {
      find_depth(w);
      order.push_back(w);
    }
    std::ranges::stable_sort(order, {}, [&](std::uint32_t w) {
      return std::tuple(forest_.sends[paths_[w].first].epoch, depth_[w]);
    });
    Schedule schedule(link_count);
    schedule.reserve(paths_.size());
    for (const std::uint32_t w : order)
      schedule.push(
          {chunk_of(paths_[w]), schedule.paths().intern(paths_[w].links), Op::copy, false});
    return schedule;
  }

private:
  struct Path {
    std::uint32_t first = 0, last = 0; ///< sends with which it begins and ends
    std::vector<LinkId> links;
  };
  static constexpr std::uint32_t unknown = UINT32_MAX;

  [[nodiscard]] const Lane& lane_of(std::uint32_t send) const {
    return problem_.network.lane(forest_.sends[send].lane);
  }
  [[nodiscard]] ChunkId chunk_of(const Path& path) const { return forest_.sends[path.first].chunk; }
  /// A chunk at a node, as one number.
  [[nodiscard]] std::uint64_t place(ChunkId chunk, std::uint32_t node) const {
    return std::uint64_t{chunk.value} * problem_.network.node_count() + node;
  }

  /// Transfers of its chunk one after another that must be before this one: out of a switch lanes
  /// may have no delay, so that several begin in one epoch, also where nodes that store are between
  /// them.
  std::uint32_t find_depth(std::uint32_t path) { // as deep as a chunk has hops
    if (depth_[path] != unknown) return depth_[path];
    const auto before =
        bringing_.find(place(chunk_of(paths_[path]), lane_of(paths_[path].first).from));
    return depth_[path] = before == bringing_.end() ? 0 : find_depth(before->second) + 1;
  }

  /// `path` continued by a send and what depends on it.
  void extend(Path path, std::uint32_t send) { // as deep as switches stand in a row
    const Lane& lane = lane_of(send);
    path.last = send;
    path.links.insert(path.links.end(), lane.links.begin(), lane.links.end());
    const auto& children = children_[send];
    if (children.empty()) {
      paths_.push_back(std::move(path));
      return;
    }
    // A switch keeps what ends there, as far as schedules know: a second time would be redundant.
    if (children.size() > 1 && ended_.insert(place(forest_.sends[send].chunk, lane.to)).second) {
      paths_.push_back(std::move(path));
      for (const std::uint32_t child : children) extend({child, child, {}}, child);
      return;
    }
    for (const std::uint32_t child : children) extend(path, child);
  }

  const EpochProblem& problem_;
  EpochForest forest_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::unordered_set<std::uint64_t> ended_; // places: switches
  std::vector<Path> paths_;
  std::unordered_map<std::uint64_t, std::uint32_t> bringing_; // place -> the path that ends there
  std::vector<std::uint32_t> depth_;                          // [path]
};

} // namespace

Schedule as_schedule(const EpochProblem& problem, const EpochPlan& plan, std::uint32_t link_count) {
  return EpochTransfers(problem, needed_sends(problem, plan)).schedule(link_count);
}

} // namespace tutti
