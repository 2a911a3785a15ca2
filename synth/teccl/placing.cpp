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
  EpochPlacing(const EpochProblem& problem, std::uint32_t latest)
      : network_(problem.network), latest_(latest), calendar_(network_) {
    for (std::uint32_t l = 0; l < network_.lanes.size(); ++l) lanes_[network_.lanes[l].links] = l;
    for (std::uint32_t c = 0; c < problem.chunks.size(); ++c)
      for (const std::uint32_t source : problem.chunks[c].sources) since(c, source) = 0;
  }

  /// False where it doesn't fit.
  bool place(std::uint32_t chunk, std::span<const LinkId> links) {
    std::vector<std::uint32_t> segment; // lanes from one who stores through those who don't
    std::vector<LinkId> path;
    bool first = true;
    for (const LinkId link : links) {
      path.push_back(link);
      const auto lane = lanes_.find(path);
      if (lane == lanes_.end()) continue; // a part of a path that is one lane, or none at all
      path.clear();
      if (std::exchange(first, false) && !begin(chunk, lane->second, segment)) return false;
      segment.push_back(lane->second);
      const std::uint32_t end = network_.lanes[lane->second].to;
      if (!network_.stores[end]) continue;
      if (since(chunk, end) == out_of_epochs && !place_segment(chunk, segment)) return false;
      segment.clear();
    }
    if (!segment.empty()) to_switch_[{chunk, network_.lanes[segment.back()].to}] = segment;
    return path.empty();
  }

  EpochPlan plan() && { return {sends_.begin(), sends_.end()}; }

private:
  [[nodiscard]] std::uint32_t& since(std::size_t chunk, std::uint32_t node) {
    return since_.try_emplace(chunk * network_.node_count() + node, out_of_epochs).first->second;
  }

  /// What a switch passes on comes from where it got it.
  bool begin(std::uint32_t chunk, std::uint32_t lane, std::vector<std::uint32_t>& segment) {
    const std::uint32_t from = network_.lanes[lane].from;
    if (network_.stores[from]) return true;
    const auto before = to_switch_.find({chunk, from});
    if (before == to_switch_.end()) return false;
    segment = before->second;
    return true;
  }

  /// In the first epoch from the chunk's arrival on in which all lanes have room, one after the
  /// other.
  bool place_segment(std::uint32_t chunk, const std::vector<std::uint32_t>& segment) {
    const std::uint32_t start = since(chunk, network_.lanes[segment.front()].from);
    std::uint32_t delay = 0;
    for (const std::uint32_t lane : segment) delay += network_.lanes[lane].delay;
    for (std::uint64_t epoch = start; epoch + delay <= latest_; ++epoch) {
      if (!try_segment(chunk, segment, static_cast<std::uint32_t>(epoch))) continue;
      since(chunk, network_.lanes[segment.back()].to) = static_cast<std::uint32_t>(epoch) + delay;
      return true;
    }
    return false;
  }

  bool try_segment(std::uint32_t chunk, const std::vector<std::uint32_t>& segment,
                   std::uint32_t epoch) {
    std::vector<EpochSend> added;
    for (const std::uint32_t lane : segment) {
      const EpochSend send{epoch, lane, chunk};
      epoch += network_.lanes[lane].delay;
      const bool there = sends_.contains(send);
      // What a switch gets once it passes on several times if it copies.
      if (there && network_.copies[network_.lanes[lane].to]) continue;
      if (!there && calendar_.take(std::array{LaneId{lane}}, Epoch{send.epoch})) {
        sends_.insert(send);
        added.push_back(send);
        continue;
      }
      for (const EpochSend& other : added) {
        calendar_.give_back(std::array{LaneId{other.lane}}, Epoch{other.epoch});
        sends_.erase(other);
      }
      return false;
    }
    return true;
  }

  const EpochNetwork& network_;
  std::uint64_t latest_;
  CapacityCalendar calendar_;
  std::map<std::vector<LinkId>, std::uint32_t> lanes_; // by their links
  /// By chunk and node, of those that a chunk gets to: few of all pairs.
  std::unordered_map<std::uint64_t, std::uint32_t> since_;
  /// Lanes over which a chunk got to a switch that it was sent to, by chunk and switch.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> to_switch_;
  std::set<EpochSend> sends_;
};

} // namespace

std::optional<EpochPlan> as_plan(const EpochProblem& problem, const Schedule& schedule,
                                 std::uint32_t latest) {
  EpochPlacing placing(problem, latest);
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    problem.require_time();
    if (!placing.place(schedule[i].chunk.value, schedule.paths().links(schedule.path_of(i))))
      return {};
  }
  const EpochPlan all = std::move(placing).plan();
  if (!epochs_of(problem, all)) return {};
  problem.require_time();
  EpochPlan plan = without_useless(problem, all);
  if (problem.buffer_limit && !epoch_fault(problem, plan).empty()) return {};
  return plan;
}

} // namespace tutti
