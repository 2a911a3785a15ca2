// Routes become connections, up to a number per pair of ranks. Which two share a block is decided
// greedily, by how many messages can be received and sent on in one step; sharing forces one
// channel, so groups of connections are merged while no two of them have the same ends.
//
// How early messages can be sent and received at best is counted in events: a forward walk over
// them in list order, in which each level is one more than the latest of what must precede.

#include "runtime/lowering/connections.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

namespace tutti::runtime {

namespace {

/// Before a message is sent: the receipt of its value, and of the message before it on its
/// connection (so that one slot is enough), and what it waits for. Before it is received: its
/// sending, and all that makes or reads the value that it replaces. `previous`: [message], the one
/// before it on its connection or no_message. The list's order keeps all of this, but says more: of
/// a ring's steps it has one rank wait for the other. Messages of one step have the levels of the
/// last of them. Cost: O(messages).
MessageLevels levels_of(const ScheduleMessages& messages, const MessageValues& values,
                        const std::vector<std::uint32_t>& previous) {
  const std::size_t count = messages.messages.size();
  MessageLevels levels{std::vector<std::uint32_t>(count), std::vector<std::uint32_t>(count)};
  std::vector<std::uint32_t> touched(values.count); // [value]: made or read at this level, last
  for (std::size_t at = 0, end = 0; at < messages.events.size(); at = end) {
    const bool receipt = messages.events[at].receipt;
    std::uint32_t level = 0;
    for (; end < messages.events.size() &&
           (end == at || (messages.events[end].receipt == receipt &&
                          !messages.is_first_in_step(messages.events[end].message)));
         ++end) {
      const std::uint32_t m = messages.events[end].message;
      if (receipt) {
        level = std::max(level, levels.sent[m]);
        if (const std::uint32_t replaced = values.replaced[m]; replaced != no_message)
          level = std::max(level, touched[replaced]);
      } else {
        if (const std::uint32_t maker = values.made_by(m); maker != no_message)
          level = std::max(level, levels.received[maker]);
        if (previous[m] != no_message) level = std::max(level, levels.received[previous[m]]);
        for (const MessageWait& wait : messages.waits_of(m))
          level = std::max(level, wait.awaited.receipt ? levels.received[wait.awaited.message]
                                                       : levels.sent[wait.awaited.message]);
      }
    }
    ++level;
    for (; at < end; ++at) {
      const std::uint32_t m = messages.events[at].message;
      if (receipt) {
        levels.received[m] = touched[m] = level;
      } else {
        levels.sent[m] = level;
        std::uint32_t& read = touched[values.sent[m]];
        read = std::max(read, level);
      }
    }
  }
  return levels;
}

class ConnectionMaker {
public:
  ConnectionMaker(const ScheduleMessages& messages, const MessageValues& values,
                  const ConnectionOptions& options)
      : messages_(messages), values_(values), options_(options) {}

  MessageConnections make() {
    assign_connections();
    find_previous();
    if (options_.share) share_where_passed_on();
    choose_channels();
    if (options_.share) share_back_and_forth();
    return std::move(result_);
  }

private:
  /// Connections by their ends, then by first message. The k-th route between two ranks takes the
  /// connection k mod `most`.
  void assign_connections() {
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
    std::vector<std::uint32_t> connection_of(messages_.routes, no_connection);
    for (std::size_t i = 0, begin = 0; i < routes.size(); ++i) {
      if (ends(routes[begin]) != ends(routes[i])) begin = i;
      if (i - begin < options_.most) {
        siblings_.push_back(begin == i ? connection_count() : siblings_.back());
        result_.all.push_back({ends(routes[i]).first, ends(routes[i]).second, 0, routes[i]});
        connection_of[routes[i]] = connection_count() - 1;
      } else {
        connection_of[routes[i]] = connection_of[routes[i - options_.most]];
      }
    }
    for (const ScheduleMessage& message : messages_.messages)
      result_.of_message.push_back(connection_of[message.route]);
    result_.shared_at_end.assign(result_.all.size(), no_connection);
    result_.shared_at_start.assign(result_.all.size(), no_connection);
  }

  [[nodiscard]] std::uint32_t connection_count() const {
    return static_cast<std::uint32_t>(result_.all.size());
  }

  /// Connections with the same ends.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> siblings(std::uint32_t connection) const {
    const std::uint32_t begin = siblings_[connection];
    std::uint32_t end = connection + 1;
    while (end < siblings_.size() && siblings_[end] == begin) ++end;
    return {begin, end};
  }

  void find_previous() {
    std::vector<std::uint32_t> last(result_.all.size(), no_message);
    result_.previous.resize(messages_.messages.size());
    for (const MessageEvent& event : messages_.events)
      if (!event.receipt)
        result_.previous[event.message] =
            std::exchange(last[result_.of_message[event.message]], event.message);
    result_.levels = levels_of(messages_, values_, result_.previous);
  }

  /// How many messages of the connection `out` bring what came by the connection `in`, and how many
  /// of these could be sent in the step that receives it.
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
    group_.resize(result_.all.size());
    std::iota(group_.begin(), group_.end(), 0U);
    members_.resize(result_.all.size());
    for (std::uint32_t connection = 0; connection < members_.size(); ++connection)
      members_[connection] = {connection};
    std::vector<PassedOn> pairs = passed_on();
    std::ranges::stable_sort(pairs, std::greater(),
                             [](const PassedOn& p) { return std::pair(p.at_once, p.count); });
    for (const PassedOn& pair : pairs)
      if (can_share(pair.in, pair.out) && one_channel(pair.in, pair.out)) share(pair.in, pair.out);
  }

  [[nodiscard]] bool can_share(std::uint32_t in, std::uint32_t out) const {
    return result_.shared_at_end[in] == no_connection &&
           result_.shared_at_start[out] == no_connection;
  }
  void share(std::uint32_t in, std::uint32_t out) {
    result_.shared_at_end[in] = out;
    result_.shared_at_start[out] = in;
  }

  /// Joins the groups of connections that have one channel. False where both have connections with
  /// the same ends, which need two.
  bool one_channel(std::uint32_t a, std::uint32_t b) {
    std::uint32_t into = group_[a], from = group_[b];
    if (into == from) return true;
    if (members_[into].size() < members_[from].size()) std::swap(into, from);
    for (const std::uint32_t connection : members_[from]) {
      const auto [begin, end] = siblings(connection);
      for (std::uint32_t other = begin; other < end; ++other)
        if (group_[other] == into) return false;
    }
    for (const std::uint32_t connection : members_[from]) group_[connection] = into;
    members_[into].insert(members_[into].end(), members_[from].begin(), members_[from].end());
    members_[from].clear();
    return true;
  }

  /// The lowest channel that is free for the whole group, or where that is beyond the most, for
  /// each connection alone; what then have different channels share no block.
  void choose_channels() {
    constexpr std::uint32_t none = UINT32_MAX;
    std::vector<std::uint32_t> alone(1);
    for (MessageConnection& connection : result_.all) connection.channel = none;
    for (std::uint32_t connection = 0; connection < connection_count(); ++connection) {
      if (result_.all[connection].channel != none) continue;
      alone[0] = connection;
      const std::span<const std::uint32_t> group =
          group_.empty() ? std::span<const std::uint32_t>(alone) : members_[group_[connection]];
      std::uint32_t channel = 0;
      while (channel < options_.most && !is_free(group, channel)) ++channel;
      for (const std::uint32_t member : group) {
        std::uint32_t own = channel == options_.most ? 0 : channel;
        while (!is_free(std::span(&member, 1), own)) ++own;
        result_.all[member].channel = own;
      }
    }
    for (std::uint32_t in = 0; in < connection_count(); ++in) {
      const std::uint32_t out = result_.shared_at_end[in];
      if (out == no_connection || result_.all[in].channel == result_.all[out].channel) continue;
      result_.shared_at_end[in] = result_.shared_at_start[out] = no_connection;
    }
  }

  [[nodiscard]] bool is_free(std::span<const std::uint32_t> connections,
                             std::uint32_t channel) const {
    for (const std::uint32_t connection : connections) {
      const auto [begin, end] = siblings(connection);
      for (std::uint32_t other = begin; other < end; ++other)
        if (other != connection && result_.all[other].channel == channel) return false;
    }
    return true;
  }

  void share_back_and_forth() {
    std::vector<std::uint32_t> by_ends(result_.all.size());
    std::iota(by_ends.begin(), by_ends.end(), 0U);
    const auto key = [&](std::uint32_t c) {
      const MessageConnection& connection = result_.all[c];
      return std::tuple(connection.from, connection.to, connection.channel);
    };
    std::ranges::sort(by_ends, {}, key);
    for (std::uint32_t out = 0; out < connection_count(); ++out) {
      const MessageConnection& connection = result_.all[out];
      const std::tuple back(connection.to, connection.from, connection.channel);
      const auto in = std::ranges::lower_bound(by_ends, back, {}, key);
      if (in != by_ends.end() && key(*in) == back && can_share(*in, out)) share(*in, out);
    }
  }

  const ScheduleMessages& messages_;
  const MessageValues& values_;
  const ConnectionOptions& options_;
  MessageConnections result_;
  std::vector<std::uint32_t> siblings_;             // [connection]: the first with the same ends
  std::vector<std::uint32_t> group_;                // [connection]: whose channel is the same
  std::vector<std::vector<std::uint32_t>> members_; // [group]
};

} // namespace

MessageConnections connections_of(const ScheduleMessages& messages, const MessageValues& values,
                                  const ConnectionOptions& options) {
  return ConnectionMaker(messages, values, options).make();
}

} // namespace tutti::runtime
