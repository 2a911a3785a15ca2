// Counting sort by level; within a level a receipt comes after those of its level that must be
// earlier for each to send on in its own step (add_receipts).

#include "runtime/lowering/event_order.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tutti::runtime {

namespace {

class EventSorter {
public:
  EventSorter(const ScheduleMessages& messages, const MessageValues& values,
              const MessageConnections& connections)
      : messages_(messages), values_(values), connections_(connections),
        levels_(connections.levels) {}

  /// [message]: the first that could be sent on in the step that receives it.
  [[nodiscard]] std::vector<std::uint32_t> pass_ons() const {
    std::vector<std::uint32_t> sends_on(messages_.messages.size(), no_message);
    for (std::uint32_t m = 0; m < messages_.messages.size(); ++m) {
      const std::uint32_t maker = values_.made_by(m);
      if (maker != no_message && sends_on[maker] == no_message &&
          connections_.shared_at_end[connections_.of_message[maker]] == connections_.of_message[m])
        sends_on[maker] = m;
    }
    return sends_on;
  }

  std::vector<MessageEvent> sorted(const std::vector<std::uint32_t>& sends_on) {
    std::vector<MessageEvent> order = by_level();
    std::vector<std::uint8_t> visited(messages_.messages.size());
    std::vector<MessageEvent> result;
    result.reserve(order.size());
    for (const MessageEvent& event : order) {
      if (event.receipt)
        add_receipts(event.message, sends_on, visited, result);
      else
        result.push_back(event);
    }
    return result;
  }

private:
  [[nodiscard]] std::uint32_t level(const MessageEvent& event) const {
    return event.receipt ? levels_.received[event.message] : levels_.sent[event.message];
  }

  /// Counting sort; of a level sends first, else as they were.
  [[nodiscard]] std::vector<MessageEvent> by_level() const {
    const auto key = [&](const MessageEvent& event) {
      return 2 * std::size_t{level(event)} + (event.receipt ? 1 : 0);
    };
    std::vector<std::uint32_t> next;
    for (const MessageEvent& event : messages_.events) {
      if (key(event) + 1 >= next.size()) next.resize(key(event) + 2);
      ++next[key(event) + 1];
    }
    for (std::size_t k = 1; k < next.size(); ++k) next[k] += next[k - 1];
    std::vector<MessageEvent> order(messages_.events.size());
    for (const MessageEvent& event : messages_.events) order[next[key(event)]++] = event;
    return order;
  }

  /// First those of its level that must be earlier for each to send on, from the last of them.
  void add_receipts(std::uint32_t first, const std::vector<std::uint32_t>& sends_on,
                    std::vector<std::uint8_t>& visited, std::vector<MessageEvent>& result) {
    chain_.clear();
    for (std::uint32_t m = first; m != no_message && visited[m] == 0;) {
      visited[m] = 1;
      chain_.push_back(m);
      const std::uint32_t on = sends_on[m];
      const std::uint32_t needed = on == no_message ? no_message : connections_.previous[on];
      const bool here = needed != no_message && levels_.received[needed] == levels_.received[m];
      m = here ? needed : no_message;
    }
    for (std::size_t c = chain_.size(); c-- > 0;) result.push_back({chain_[c], true});
  }

  const ScheduleMessages& messages_;
  const MessageValues& values_;
  const MessageConnections& connections_;
  const MessageLevels& levels_;
  std::vector<std::uint32_t> chain_;
};

/// Takes back what the order doesn't allow.
MessageFusions allowed(const ScheduleMessages& messages, const MessageConnections& connections,
                       std::vector<std::uint32_t> sends_on) {
  MessageFusions fusions{std::move(sends_on), {}};
  fusions.sent_on_from.assign(messages.messages.size(), no_message);
  for (std::uint32_t maker = 0; maker < messages.messages.size(); ++maker) {
    std::uint32_t& on = fusions.sends_on[maker];
    if (on == no_message) continue;
    const std::uint32_t before = connections.previous[on];
    const std::uint32_t here = messages.messages[maker].received;
    const bool is_late = std::ranges::any_of(messages.waits_of(on), [&](const MessageWait& wait) {
      return messages.position(wait.awaited) >= here;
    });
    if (is_late || (before != no_message && messages.messages[before].received > here))
      on = no_message;
    else
      fusions.sent_on_from[on] = maker;
  }
  return fusions;
}

} // namespace

MessageFusions order_events(ScheduleMessages& messages, const MessageValues& values,
                            const MessageConnections& connections, bool fuse) {
  EventSorter sorter(messages, values, connections);
  std::vector<std::uint32_t> sends_on(messages.messages.size(), no_message);
  if (fuse) sends_on = sorter.pass_ons();
  messages.reorder(sorter.sorted(sends_on));
  return allowed(messages, connections, std::move(sends_on));
}

} // namespace tutti::runtime
