// as_plan: the transfers of a schedule, placed in epochs.
#include "synth/teccl/placing.hpp"

#include "synth/teccl/capacity_calendar.hpp"
#include "synth/teccl/fault.hpp"
#include "synth/teccl/needed_sends.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

namespace tutti {

namespace {

class EpochPlacing {
public:
  EpochPlacing(const EpochProblem& problem, Epoch latest)
      : network_(problem.network), latest_(latest), calendar_(network_) {
    for (std::uint32_t l = 0; l < network_.lanes.size(); ++l)
      lanes_[network_.lanes[l].links] = LaneId{l};
    for (std::uint32_t c = 0; c < problem.chunks.size(); ++c)
      for (const std::uint32_t source : problem.chunks[c].sources)
        since(ChunkId{c}, source) = Epoch{0};
  }

  /// False where it doesn't fit.
  bool place(ChunkId chunk, std::span<const LinkId> links) {
    std::vector<LaneId> segment; // lanes from one who stores through those who don't
    std::vector<LinkId> path;
    bool first = true;
    for (const LinkId link : links) {
      path.push_back(link);
      const auto lane = lanes_.find(path);
      if (lane == lanes_.end()) continue; // a part of a path that is one lane, or none at all
      path.clear();
      if (std::exchange(first, false) && !begin(chunk, lane->second, segment)) return false;
      segment.push_back(lane->second);
      const std::uint32_t end = network_.lane(lane->second).to;
      if (!network_.stores[end]) continue;
      if (since(chunk, end) == no_epoch && !place_segment(chunk, segment)) return false;
      segment.clear();
    }
    if (!segment.empty()) to_switch_[{chunk, network_.lane(segment.back()).to}] = segment;
    return path.empty();
  }

  EpochPlan plan() && { return {sends_.begin(), sends_.end()}; }

private:
  [[nodiscard]] Epoch& since(ChunkId chunk, std::uint32_t node) {
    const std::uint64_t place = std::uint64_t{chunk.value} * network_.node_count() + node;
    return since_.try_emplace(place, no_epoch).first->second;
  }

  /// What a switch passes on comes from where it got it.
  bool begin(ChunkId chunk, LaneId lane, std::vector<LaneId>& segment) {
    const std::uint32_t from = network_.lane(lane).from;
    if (network_.stores[from]) return true;
    const auto before = to_switch_.find({chunk, from});
    if (before == to_switch_.end()) return false;
    segment = before->second;
    return true;
  }

  /// In the first epoch from the chunk's arrival on in which all lanes have room, one after the
  /// other.
  bool place_segment(ChunkId chunk, const std::vector<LaneId>& segment) {
    const Epoch start = since(chunk, network_.lane(segment.front()).from);
    std::uint64_t delay = 0;
    for (const LaneId lane : segment) delay += network_.lane(lane).delay;
    for (Epoch epoch = start; epoch.value + delay <= latest_.value; ++epoch) {
      if (!try_segment(chunk, segment, epoch)) continue;
      since(chunk, network_.lane(segment.back()).to) = epoch + static_cast<std::uint32_t>(delay);
      return true;
    }
    return false;
  }

  bool try_segment(ChunkId chunk, const std::vector<LaneId>& segment, Epoch epoch) {
    std::vector<EpochSend> added;
    for (const LaneId lane : segment) {
      const EpochSend send{epoch, lane, chunk};
      epoch += network_.lane(lane).delay;
      const bool there = sends_.contains(send);
      // What a switch gets once it passes on several times if it copies.
      if (there && network_.copies[network_.lane(lane).to]) continue;
      if (!there && calendar_.take(std::array{lane}, send.epoch)) {
        sends_.insert(send);
        added.push_back(send);
        continue;
      }
      for (const EpochSend& other : added) {
        calendar_.give_back(std::array{other.lane}, other.epoch);
        sends_.erase(other);
      }
      return false;
    }
    return true;
  }

  const EpochNetwork& network_;
  Epoch latest_;
  CapacityCalendar calendar_;
  std::map<std::vector<LinkId>, LaneId> lanes_; // by their links
  /// By chunk and node, of those that a chunk gets to: few of all pairs.
  std::unordered_map<std::uint64_t, Epoch> since_;
  /// Lanes over which a chunk got to a switch that it was sent to, by chunk and switch.
  std::map<std::pair<ChunkId, std::uint32_t>, std::vector<LaneId>> to_switch_;
  std::set<EpochSend> sends_;
};

} // namespace

std::optional<EpochPlan> as_plan(const EpochProblem& problem, const Schedule& schedule,
                                 Epoch latest) {
  EpochPlacing placing(problem, latest);
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    problem.require_time();
    if (!placing.place(schedule[i].chunk, schedule.paths().links(schedule.path_of(i)))) return {};
  }
  const EpochPlan all = std::move(placing).plan();
  if (!epochs_of(problem, all)) return {};
  problem.require_time();
  EpochPlan plan = without_useless(problem, all);
  if (problem.buffer_limit && !epoch_fault(problem, plan).empty()) return {};
  return plan;
}

} // namespace tutti
