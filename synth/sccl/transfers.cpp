// Steps are barriers in the model but not in a replay: the order within a step decides who waits
// behind a switch. Sends take the first round in which all limits of their lane are free, by
// distance of their ends, so that no two senders meet at one receiver where that can be helped.
// Nor does a step know latencies: of lanes between the same ends, whichever the solver took, a send
// takes the quickest that is free.
#include "synth/sccl/transfers.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <tuple>
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

  /// The first round with room for one more send over one of the lanes, which takes it; else the
  /// last, over `otherwise`.
  SendPlace take(std::span<const LaneId> lanes, LaneId otherwise) {
    for (std::uint32_t r = 0; r < rounds_; ++r)
      for (const LaneId lane : lanes) {
        const auto has_room = [&](std::size_t limit) { return room_[limit * rounds_ + r] > 0; };
        if (!std::ranges::all_of(limits_of_[lane.value], has_room)) continue;
        for (const std::size_t limit : limits_of_[lane.value]) --room_[limit * rounds_ + r];
        return {lane, r};
      }
    return {otherwise, rounds_ - 1};
  }

private:
  std::uint32_t rounds_;
  std::vector<std::vector<std::size_t>> limits_of_; // of each lane
  std::vector<std::int64_t> room_;                  // [limit][round]
};

/// Lanes between the same ends, the quickest first.
class ParallelLanes {
public:
  ParallelLanes(const Topology& topology, const StepNetwork& network)
      : network_(network), sorted_(network.lanes.size()), end_(network.lanes.size()) {
    for (std::uint32_t l = 0; l < sorted_.size(); ++l) sorted_[l] = LaneId{l};
    const auto latency = [&](LaneId lane) {
      Time sum;
      for (const LinkId link : network.lane(lane).links) sum += topology.link(link).latency;
      return sum;
    };
    std::ranges::stable_sort(sorted_, {}, [&](LaneId lane) {
      const Lane& between = network.lane(lane);
      return std::tuple(between.from, between.to, latency(lane), between.links.size());
    });
    begin_.resize(sorted_.size());
    for (std::size_t begin = 0, end = 0; begin < sorted_.size(); begin = end) {
      while (end < sorted_.size() && joins_alike(sorted_[begin], sorted_[end])) ++end;
      for (std::size_t i = begin; i < end; ++i) {
        begin_[sorted_[i].value] = begin;
        end_[sorted_[i].value] = end;
      }
    }
  }

  [[nodiscard]] std::span<const LaneId> to(LaneId lane) const {
    return std::span(sorted_).subspan(begin_[lane.value], end_[lane.value] - begin_[lane.value]);
  }

private:
  [[nodiscard]] bool joins_alike(LaneId a, LaneId b) const {
    return network_.lane(a).from == network_.lane(b).from &&
           network_.lane(a).to == network_.lane(b).to;
  }

  const StepNetwork& network_;
  std::vector<LaneId> sorted_;
  std::vector<std::size_t> begin_, end_; // [lane], in sorted_
};

} // namespace

std::vector<SendPlace> places_of_sends(const Topology& topology, const StepProblem& problem,
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
  const ParallelLanes parallel(topology, network);
  std::vector<SendPlace> places(schedule.sends.size());
  for (std::size_t i = 0; i < order.size();) {
    const Step step = schedule.sends[order[i]].step;
    RoundCalendar calendar(network, schedule.rounds[step.value]);
    for (; i < order.size() && schedule.sends[order[i]].step == step; ++i)
      places[order[i]] =
          calendar.take(parallel.to(schedule.sends[order[i]].lane), schedule.sends[order[i]].lane);
  }
  return places;
}

Schedule as_schedule(const Topology& topology, const StepProblem& problem,
                     const StepSchedule& schedule) {
  const std::vector<SendPlace> places = places_of_sends(topology, problem, schedule);
  std::vector<std::uint32_t> order(schedule.sends.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) {
    return std::pair(schedule.sends[i].step, places[i].round);
  });
  Schedule list(topology.link_count());
  list.reserve(order.size());
  for (const std::uint32_t i : order) {
    const StepSend& send = schedule.sends[i];
    const PathId path = list.paths().intern(problem.network.lane(places[i].lane).links);
    list.push({send.chunk, path, Op::copy, false});
  }
  return list;
}

} // namespace tutti
