// Idea: list scheduling. The paper's rule takes, of all sends whose chunk will be there, the one
// with the longest path to go, and gives it the next free time of its connection, however late; it
// says that some networks want the same order and some the opposite one. Here both are made, also
// in a form that never lets a connection wait for a chunk while another one is there (Graham 1966),
// and the fastest is kept.
#include "synth/taccl/ordering.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>

namespace tutti {

namespace {

using Times = std::vector<std::int64_t>;

/// For each send the longest chain of flights from the start to its setting out.
Times heads(const Sends& sends, const std::vector<SendId>& topological) {
  Times heads(sends.size());
  for (const SendId id : topological)
    for (const SendId next : sends.after(id))
      heads[next] =
          std::max(heads[next], heads[id] + sends.flight(sends[id].link, sends.bytes(id)));
  return heads;
}

/// The same from its setting out to the end.
Times tails(const Sends& sends, const std::vector<SendId>& topological) {
  Times tails(sends.size());
  for (std::size_t i = topological.size(); i-- > 0;) {
    const SendId id = topological[i];
    for (const SendId next : sends.after(id)) tails[id] = std::max(tails[id], tails[next]);
    tails[id] += sends.flight(sends[id].link, sends.bytes(id));
  }
  return tails;
}

/// Forwards a send waits for those before it; backwards for those after it.
struct Direction {
  const Sends& sends;
  bool backwards;
  [[nodiscard]] auto waits_for(SendId id) const {
    return backwards ? sends.after(id) : sends.before(id);
  }
  [[nodiscard]] auto waited_by(SendId id) const {
    return backwards ? sends.before(id) : sends.after(id);
  }
  [[nodiscard]] auto follows(SendId id) const {
    return backwards ? sends.later(id) : sends.earlier(id);
  }
  [[nodiscard]] auto followed_by(SendId id) const {
    return backwards ? sends.earlier(id) : sends.later(id);
  }
  [[nodiscard]] std::vector<std::uint32_t> waiting_counts() const {
    std::vector<std::uint32_t> counts(sends.size());
    for (SendId id = 0; id < sends.size(); ++id)
      counts[id] = static_cast<std::uint32_t>(waits_for(id).size() + follows(id).size());
    return counts;
  }
};

std::vector<SendId> topological_order(const Sends& sends) {
  const Direction forwards{sends, false};
  std::vector<std::uint32_t> waiting = forwards.waiting_counts();
  std::vector<SendId> order;
  for (SendId id = 0; id < sends.size(); ++id)
    if (waiting[id] == 0) order.push_back(id);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const SendId id = order[i];
    for (const SendId next : sends.after(id))
      if (--waiting[next] == 0) order.push_back(next);
    for (const SendId next : sends.later(id))
      if (--waiting[next] == 0) order.push_back(next);
  }
  return order;
}

/// Less is more urgent: the longest path to go, the shortest path behind, the id.
using Urgency = std::tuple<std::int64_t, std::int64_t, SendId>;

/// Sends whose chunk will be there, the next one to set out first. Those of a connection queue up,
/// so that a busy network part is asked for once a connection, not once a send.
class ReadySends {
public:
  using Entry = std::pair<std::int64_t, Urgency>; ///< when it can set out

  explicit ReadySends(const Sends& sends)
      : sends_(sends), free_(sends.logical().parts.size()),
        queues_(sends.logical().topology.link_count()) {}

  void push(std::int64_t available, const Urgency& urgency) {
    const LinkId link = sends_[std::get<2>(urgency)].link;
    queues_[link.value].to_come.emplace(available, urgency);
    announce(link);
  }

  /// Takes it off, and occupies what it crosses; nothing where there is none.
  std::optional<Entry> pop() {
    while (!heads_.empty()) {
      const auto [entry, link] = heads_.top();
      heads_.pop();
      Queue& queue = queues_[link.value];
      if (queue.announced != entry) continue; // an earlier one was announced since
      queue.announced.reset();
      if (head(link) != entry) {
        announce(link);
        continue;
      }
      const SendId id = std::get<2>(entry.second);
      if (queue.waiting.empty())
        queue.to_come.pop();
      else
        queue.waiting.pop();
      for (const std::uint32_t part : sends_.parts(link))
        free_[part] = entry.first + sends_.busy(part, sends_.bytes(id));
      announce(link);
      return entry;
    }
    return std::nullopt;
  }

private:
  template <typename T> using Least = std::priority_queue<T, std::vector<T>, std::greater<>>;
  struct Queue {
    Least<Urgency> waiting; ///< their chunks are there before the connection is free
    Least<Entry> to_come;
    std::optional<Entry> announced; ///< in heads_; no later than the queue's head
  };

  std::optional<Entry> head(LinkId link) {
    Queue& queue = queues_[link.value];
    std::int64_t free = 0;
    for (const std::uint32_t part : sends_.parts(link)) free = std::max(free, free_[part]);
    for (; !queue.to_come.empty() && queue.to_come.top().first <= free; queue.to_come.pop())
      queue.waiting.push(queue.to_come.top().second);
    if (!queue.waiting.empty()) return Entry{free, queue.waiting.top()};
    return queue.to_come.empty() ? std::nullopt : std::optional(queue.to_come.top());
  }

  void announce(LinkId link) {
    const std::optional<Entry> first = head(link);
    std::optional<Entry>& announced = queues_[link.value].announced;
    if (!first || (announced && *announced <= *first)) return;
    announced = first;
    heads_.emplace(*first, link);
  }

  const Sends& sends_;
  Times free_; ///< [part]
  std::vector<Queue> queues_;
  Least<std::pair<Entry, LinkId>> heads_;
};

class Lists {
public:
  Lists(const Sends& sends, const WorkLimit& limit)
      : sends_(sends), limit_(limit), topological_(topological_order(sends)),
        heads_(heads(sends, topological_)), tails_(tails(sends, topological_)) {
    for (SendId id = 0; id < sends.size(); ++id)
      ends_.push_back(heads_[id] + sends.flight(sends[id].link, sends.bytes(id)));
  }

  [[nodiscard]] std::vector<SendId> path_first(bool backwards) const {
    const Direction direction{sends_, backwards};
    std::priority_queue<Urgency, std::vector<Urgency>, std::greater<>> ready;
    std::vector<std::uint32_t> waiting = direction.waiting_counts();
    for (SendId id = 0; id < sends_.size(); ++id)
      if (waiting[id] == 0) ready.push(urgency(id, backwards));
    std::vector<SendId> order;
    while (!ready.empty()) {
      const SendId id = std::get<2>(ready.top());
      ready.pop();
      order.push_back(id);
      if (order.size() % often == 0) limit_.require();
      const auto release = [&](SendId next) {
        if (--waiting[next] == 0) ready.push(urgency(next, backwards));
      };
      std::ranges::for_each(direction.waited_by(id), release);
      std::ranges::for_each(direction.followed_by(id), release);
    }
    if (backwards) std::ranges::reverse(order);
    return order;
  }

  [[nodiscard]] std::vector<SendId> time_first(bool backwards) const {
    const Direction direction{sends_, backwards};
    ReadySends ready(sends_);
    std::vector<std::uint32_t> waiting = direction.waiting_counts();
    Times available(sends_.size());
    for (SendId id = 0; id < sends_.size(); ++id)
      if (waiting[id] == 0) ready.push(0, urgency(id, backwards));
    std::vector<SendId> order;
    while (const std::optional<ReadySends::Entry> first = ready.pop()) {
      const auto& [at, rank] = *first;
      const SendId id = std::get<2>(rank);
      order.push_back(id);
      const std::int64_t there = at + sends_.flight(sends_[id].link, sends_.bytes(id));
      const auto release = [&](SendId next, std::int64_t from) {
        available[next] = std::max(available[next], from);
        if (--waiting[next] == 0) ready.push(available[next], urgency(next, backwards));
      };
      for (const SendId next : direction.waited_by(id)) release(next, there);
      for (const SendId next : direction.followed_by(id)) release(next, at);
      if (order.size() % often == 0) limit_.require();
    }
    if (backwards) std::ranges::reverse(order);
    return order;
  }

private:
  [[nodiscard]] Urgency urgency(SendId id, bool backwards) const {
    return backwards ? Urgency{-ends_[id], tails_[id], id} : Urgency{-tails_[id], heads_[id], id};
  }

  static constexpr std::size_t often = 65'536; ///< sends between questions for the limit

  const Sends& sends_;
  const WorkLimit& limit_;
  std::vector<SendId> topological_;
  Times heads_, tails_, ends_;
};

} // namespace

OrderedSends timed(const Sends& sends, std::vector<SendId> order, std::string_view rule) {
  OrderedSends made{std::move(order), Times(sends.size()), {}, rule};
  Times free(sends.logical().parts.size()), available(sends.size());
  for (const SendId id : made.order) {
    std::int64_t start = available[id];
    for (const std::uint32_t part : sends.parts(sends[id].link))
      start = std::max(start, free[part]);
    made.starts[id] = start;
    const Bytes size = sends.bytes(id);
    for (const std::uint32_t part : sends.parts(sends[id].link))
      free[part] = start + sends.busy(part, size);
    const std::int64_t there = start + sends.flight(sends[id].link, size);
    made.makespan = std::max(made.makespan, Time{there});
    for (const SendId next : sends.after(id)) available[next] = std::max(available[next], there);
    for (const SendId next : sends.later(id)) available[next] = std::max(available[next], start);
  }
  return made;
}

std::vector<OrderedSends> orderings(const Sends& sends, const WorkLimit& limit) {
  const Lists lists(sends, limit);
  std::vector<OrderedSends> all;
  const auto add = [&](std::vector<SendId> order, std::string_view rule) {
    all.push_back(timed(sends, std::move(order), rule));
  };
  try {
    add(lists.path_first(false), "path first");
    add(lists.path_first(true), "path first, backwards");
    if (!limit.reached()) add(lists.time_first(false), "time first");
    if (!limit.reached()) add(lists.time_first(true), "time first, backwards");
  } catch (const LimitReached&) {
    if (all.empty()) throw;
  }
  std::ranges::stable_sort(all, {}, &OrderedSends::makespan);
  return all;
}

Time longest_chain(const Sends& sends) {
  const Times tail = tails(sends, topological_order(sends));
  return tail.empty() ? Time{} : Time{std::ranges::max(tail)};
}

Time ordering_bound(const Sends& sends) {
  const std::vector<SendId> topological = topological_order(sends);
  const Times head = heads(sends, topological), tail = tails(sends, topological);
  struct Load {
    std::int64_t busy = 0, first = INT64_MAX, last = INT64_MAX;
  };
  std::vector<Load> loads(sends.logical().parts.size());
  std::int64_t longest = 0;
  for (SendId id = 0; id < sends.size(); ++id) {
    longest = std::max(longest, head[id] + tail[id]);
    for (const std::uint32_t part : sends.parts(sends[id].link)) {
      Load& load = loads[part];
      const std::int64_t busy = sends.busy(part, sends.bytes(id));
      load.busy += busy;
      load.first = std::min(load.first, head[id]);
      load.last = std::min(load.last, std::max<std::int64_t>(0, tail[id] - busy));
    }
  }
  for (const Load& load : loads)
    if (load.busy > 0) longest = std::max(longest, load.first + load.busy + load.last);
  return Time{longest};
}

} // namespace tutti
