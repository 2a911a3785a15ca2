// Steps are barriers in the model but not in a replay: the order within a step decides who waits
// behind a switch. Sends take the first round in which all limits of their lane are free, by
// distance of their ends, so that no two senders meet at one receiver where that can be helped.
#include "synth/sccl/transfers.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

/// What is left of every limit in every round of one step.
class RoundCalendar {
public:
  RoundCalendar(const StepNetwork& network, std::uint32_t rounds)
      : rounds_(rounds), limits_of_(network.lanes.size()), room_(network.limits.size() * rounds) {
    for (std::size_t i = 0; i < network.limits.size(); ++i) {
      const StepLimit& limit = network.limits[i];
      for (const LaneId l : limit.lanes) limits_of_[l.value].push_back(i);
      std::int64_t before = 0;
      for (std::uint32_t r = 0; r < rounds; ++r) {
        const std::int64_t until = (limit.per_round * Ratio(r + 1)).floor();
        room_[i * rounds + r] = until - std::exchange(before, until);
      }
    }
  }

  /// The first round with room for one more send over the lane, which takes it; else the last.
  std::uint32_t take(LaneId lane) {
    for (std::uint32_t r = 0; r < rounds_; ++r) {
      const auto has_room = [&](std::size_t limit) { return room_[limit * rounds_ + r] > 0; };
      if (!std::ranges::all_of(limits_of_[lane.value], has_room)) continue;
      for (const std::size_t limit : limits_of_[lane.value]) --room_[limit * rounds_ + r];
      return r;
    }
    return rounds_ - 1;
  }

private:
  std::uint32_t rounds_;
  std::vector<std::vector<std::size_t>> limits_of_; // of each lane
  std::vector<std::int64_t> room_;                  // [limit][round]
};

} // namespace

std::vector<std::uint32_t> rounds_of_sends(const StepProblem& problem,
                                           const StepSchedule& schedule) {
  const StepNetwork& network = problem.network;
  const auto ahead = [&](const StepSend& send) { // how many nodes further it goes
    const Lane& lane = network.lane(send.lane);
    return (lane.to + network.node_count() - lane.from) % network.node_count();
  };
  std::vector<std::uint32_t> order(schedule.sends.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) {
    return std::pair(schedule.sends[i].step, ahead(schedule.sends[i]));
  });
  std::vector<std::uint32_t> rounds(schedule.sends.size());
  for (std::size_t i = 0; i < order.size();) {
    const Step step = schedule.sends[order[i]].step;
    RoundCalendar calendar(network, schedule.rounds[step.value]);
    for (; i < order.size() && schedule.sends[order[i]].step == step; ++i)
      rounds[order[i]] = calendar.take(schedule.sends[order[i]].lane);
  }
  return rounds;
}

Schedule as_schedule(const StepProblem& problem, const StepSchedule& schedule,
                     std::uint32_t link_count) {
  const std::vector<std::uint32_t> rounds = rounds_of_sends(problem, schedule);
  std::vector<std::uint32_t> order(schedule.sends.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(
      order, {}, [&](std::uint32_t i) { return std::pair(schedule.sends[i].step, rounds[i]); });
  Schedule list(link_count);
  list.reserve(order.size());
  for (const std::uint32_t i : order) {
    const StepSend& send = schedule.sends[i];
    const PathId path = list.paths().intern(problem.network.lane(send.lane).links);
    list.push({send.chunk, path, Op::copy, false});
  }
  return list;
}

} // namespace tutti
