#include "synth/teccl/epoch_schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
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
      if (forest_.parent[i] == EpochForest::root) extend({i, 0, {}}, i);
    std::ranges::stable_sort(ways_, {}, [&](const Way& way) {
      return std::tuple(forest_.sends[way.first].epoch, way.depth);
    });
    Schedule schedule(link_count);
    schedule.reserve(ways_.size());
    for (const Way& way : ways_)
      schedule.push({ChunkId{forest_.sends[way.first].chunk}, schedule.paths().intern(way.links),
                     Op::copy, false});
    return schedule;
  }

private:
  struct Way {
    std::uint32_t first = 0; ///< send with which it begins
    std::uint32_t depth = 0; ///< transfers before it in its tree
    std::vector<LinkId> links;
  };

  /// `way` continued by a send and what hangs on it.
  void extend(Way way, std::uint32_t send) { // as deep as switches stand in a row
    const EpochLane& lane = problem_.network.lanes[forest_.sends[send].lane];
    way.links.insert(way.links.end(), lane.links.begin(), lane.links.end());
    const auto& children = children_[send];
    if (children.empty()) {
      ways_.push_back(std::move(way));
      return;
    }
    // A switch keeps what ends there, as far as schedules know: a second time would be redundant.
    if (children.size() > 1 && ended_.emplace(forest_.sends[send].chunk, lane.to).second) {
      const std::uint32_t depth = way.depth + 1;
      ways_.push_back(std::move(way));
      for (const std::uint32_t child : children) extend({child, depth, {}}, child);
      return;
    }
    for (const std::uint32_t child : children) extend(way, child);
  }

  const EpochProblem& problem_;
  EpochForest forest_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> ended_; // chunk, switch
  std::vector<Way> ways_;
};

} // namespace

Schedule as_schedule(const EpochProblem& problem, const EpochPlan& plan, std::uint32_t link_count) {
  return EpochTransfers(problem, needed_sends(problem, plan)).schedule(link_count);
}

} // namespace tutti
