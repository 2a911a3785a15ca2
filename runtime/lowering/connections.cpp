#include "runtime/lowering/connections.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

namespace tutti::runtime {

namespace {

class LaneMaker {
public:
  LaneMaker(const ScheduleMessages& messages, const MessageValues& values,
            const LaneOptions& options)
      : messages_(messages), values_(values), options_(options) {}

  MessageLanes make() {
    assign_lanes();
    find_previous();
    if (options_.share) share_where_passed_on();
    choose_channels();
    if (options_.share) share_to_and_fro();
    return std::move(result_);
  }

private:
  /// Lanes by their ends, then by first message. The k-th route between two ranks takes the lane
  /// k mod `most`.
  void assign_lanes() {
    std::vector<std::uint32_t> first_of(messages_.routes, no_message), routes;
    for (std::uint32_t m = 0; m < messages_.messages.size(); ++m)
      if (std::uint32_t& first = first_of[messages_.messages[m].route]; first == no_message) {
        first = m;
        routes.push_back(messages_.messages[m].route);
      }
    const auto ends = [&](std::uint32_t route) {
      const ScheduleMessage& message = messages_.messages[first_of[route]];
      return std::pair(message.from, message.to);
    };
    std::ranges::stable_sort(routes, {}, ends);
    std::vector<std::uint32_t> lane_of(messages_.routes, no_lane);
    for (std::size_t i = 0, begin = 0; i < routes.size(); ++i) {
      if (ends(routes[begin]) != ends(routes[i])) begin = i;
      if (i - begin < options_.most) {
        siblings_.push_back(begin == i ? count_of_lanes() : siblings_.back());
        result_.lanes.push_back({ends(routes[i]).first, ends(routes[i]).second, 0, routes[i]});
        lane_of[routes[i]] = count_of_lanes() - 1;
      } else {
        lane_of[routes[i]] = lane_of[routes[i - options_.most]];
      }
    }
    for (const ScheduleMessage& message : messages_.messages)
      result_.of_message.push_back(lane_of[message.route]);
    result_.shared_at_end.assign(result_.lanes.size(), no_lane);
    result_.shared_at_start.assign(result_.lanes.size(), no_lane);
  }

  [[nodiscard]] std::uint32_t count_of_lanes() const {
    return static_cast<std::uint32_t>(result_.lanes.size());
  }

  /// Lanes with the same ends.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> siblings(std::uint32_t lane) const {
    const std::uint32_t begin = siblings_[lane];
    std::uint32_t end = lane + 1;
    while (end < siblings_.size() && siblings_[end] == begin) ++end;
    return {begin, end};
  }

  void find_previous() {
    std::vector<std::uint32_t> last(result_.lanes.size(), no_message);
    result_.previous.resize(messages_.messages.size());
    for (const MessageEvent& event : messages_.events)
      if (!event.receipt)
        result_.previous[event.message] =
            std::exchange(last[result_.of_message[event.message]], event.message);
    result_.levels = levels_of(messages_, values_, result_.previous);
  }

  /// Of two lanes: how many messages of the second bring what came by the first, and how many of
  /// these could be sent in the step that receives it.
  struct PassedOn {
    std::uint32_t in = 0, out = 0, at_once = 0, count = 0;
  };

  [[nodiscard]] std::vector<PassedOn> passed_on() const {
    std::vector<std::uint64_t> each; // in, out, whether not at once
    for (std::uint32_t m = 0; m < messages_.messages.size(); ++m) {
      const std::uint32_t maker = values_.made_by(m), before = result_.previous[m];
      if (maker == no_message) continue;
      const bool later =
          before != no_message && result_.levels.received[before] > result_.levels.received[maker];
      each.push_back(std::uint64_t{result_.of_message[maker]} << 32 |
                     std::uint64_t{result_.of_message[m]} << 1 | (later ? 1 : 0));
    }
    std::ranges::sort(each);
    std::vector<PassedOn> pairs;
    for (const std::uint64_t one : each) {
      const auto in = static_cast<std::uint32_t>(one >> 32);
      const auto out = static_cast<std::uint32_t>(one) >> 1;
      if (pairs.empty() || pairs.back().in != in || pairs.back().out != out)
        pairs.push_back({in, out, 0, 0});
      ++pairs.back().count;
      if ((one & 1) == 0) ++pairs.back().at_once;
    }
    return pairs;
  }

  void share_where_passed_on() {
    group_.resize(result_.lanes.size());
    std::iota(group_.begin(), group_.end(), 0U);
    members_.resize(result_.lanes.size());
    for (std::uint32_t lane = 0; lane < members_.size(); ++lane) members_[lane] = {lane};
    std::vector<PassedOn> pairs = passed_on();
    std::ranges::stable_sort(pairs, std::greater(),
                             [](const PassedOn& p) { return std::pair(p.at_once, p.count); });
    for (const PassedOn& pair : pairs)
      if (can_share(pair.in, pair.out) && one_channel(pair.in, pair.out)) share(pair.in, pair.out);
  }

  [[nodiscard]] bool can_share(std::uint32_t in, std::uint32_t out) const {
    return result_.shared_at_end[in] == no_lane && result_.shared_at_start[out] == no_lane;
  }
  void share(std::uint32_t in, std::uint32_t out) {
    result_.shared_at_end[in] = out;
    result_.shared_at_start[out] = in;
  }

  /// Joins the groups of lanes that have one channel. False where both have lanes with the same
  /// ends, which need two.
  bool one_channel(std::uint32_t a, std::uint32_t b) {
    std::uint32_t into = group_[a], from = group_[b];
    if (into == from) return true;
    if (members_[into].size() < members_[from].size()) std::swap(into, from);
    for (const std::uint32_t lane : members_[from]) {
      const auto [begin, end] = siblings(lane);
      for (std::uint32_t other = begin; other < end; ++other)
        if (group_[other] == into) return false;
    }
    for (const std::uint32_t lane : members_[from]) group_[lane] = into;
    members_[into].insert(members_[into].end(), members_[from].begin(), members_[from].end());
    members_[from].clear();
    return true;
  }

  /// The lowest channel that is free for the whole group, or where that is beyond the most, for
  /// each lane alone; what then have different channels share no block.
  void choose_channels() {
    constexpr std::uint32_t none = UINT32_MAX;
    std::vector<std::uint32_t> alone(1);
    for (MessageLane& lane : result_.lanes) lane.channel = none;
    for (std::uint32_t lane = 0; lane < count_of_lanes(); ++lane) {
      if (result_.lanes[lane].channel != none) continue;
      alone[0] = lane;
      const std::span<const std::uint32_t> group =
          group_.empty() ? std::span<const std::uint32_t>(alone) : members_[group_[lane]];
      std::uint32_t channel = 0;
      while (channel < options_.most && !is_free(group, channel)) ++channel;
      for (const std::uint32_t member : group) {
        std::uint32_t own = channel == options_.most ? 0 : channel;
        while (!is_free(std::span(&member, 1), own)) ++own;
        result_.lanes[member].channel = own;
      }
    }
    for (std::uint32_t in = 0; in < count_of_lanes(); ++in) {
      const std::uint32_t out = result_.shared_at_end[in];
      if (out == no_lane || result_.lanes[in].channel == result_.lanes[out].channel) continue;
      result_.shared_at_end[in] = result_.shared_at_start[out] = no_lane;
    }
  }

  [[nodiscard]] bool is_free(std::span<const std::uint32_t> lanes, std::uint32_t channel) const {
    for (const std::uint32_t lane : lanes) {
      const auto [begin, end] = siblings(lane);
      for (std::uint32_t other = begin; other < end; ++other)
        if (other != lane && result_.lanes[other].channel == channel) return false;
    }
    return true;
  }

  void share_to_and_fro() {
    std::vector<std::uint32_t> by_ends(result_.lanes.size());
    std::iota(by_ends.begin(), by_ends.end(), 0U);
    const auto key = [&](std::uint32_t l) {
      const MessageLane& lane = result_.lanes[l];
      return std::tuple(lane.from, lane.to, lane.channel);
    };
    std::ranges::sort(by_ends, {}, key);
    for (std::uint32_t out = 0; out < count_of_lanes(); ++out) {
      const MessageLane& lane = result_.lanes[out];
      const std::tuple back(lane.to, lane.from, lane.channel);
      const auto in = std::ranges::lower_bound(by_ends, back, {}, key);
      if (in != by_ends.end() && key(*in) == back && can_share(*in, out)) share(*in, out);
    }
  }

  const ScheduleMessages& messages_;
  const MessageValues& values_;
  const LaneOptions& options_;
  MessageLanes result_;
  std::vector<std::uint32_t> siblings_;             // [lane]: the first with the same ends
  std::vector<std::uint32_t> group_;                // [lane]: whose channel is the same
  std::vector<std::vector<std::uint32_t>> members_; // [group]
};

} // namespace

MessageLanes lanes_of(const ScheduleMessages& messages, const MessageValues& values,
                      const LaneOptions& options) {
  return LaneMaker(messages, values, options).make();
}

} // namespace tutti::runtime
