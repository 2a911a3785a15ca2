// The FIFO discipline, first half: who is served when by links, groups and reduction units.
// Starts at one instant happen in order of queue entry, then list position; what enters at that
// same instant (zero latency) takes part in the next round. Higher priorities go before all that.
// A reduction at a node with a rate occupies the node's reduction unit for n/rate, one after
// another, before its arrival counts.
#pragma once

#include "sim/engines/engine.hpp"
#include "sim/engines/event_queue.hpp"
#include "sim/engines/link_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

/// What can happen to a link, group, transfer or flight (Event::subject).
enum class EventKind : std::uint32_t {
  sent, // a link's transmission ends
  link_free,
  group_free,
  left,
  hop,
  head,
  tail,
  arrive,
  reduced,
  join, // a node that starts late
};

/// Common to both cores. `Core` derives from this and has may_start(LinkId), start(LinkId): the
/// front of the link's queue begins to cross it, level_of(transfer), and what Dependencies calls.
/// `Crossing` is what it keeps of a link's present transmission.
///
/// `Transfers` knows by their numbers what can be under way: path_of(i) in paths(), size_of(i),
/// op_of(i), level_of(i), what Dependencies has, delivered(i, now) and keeps_waiting(i, now); where
/// nodes may join late, also joins() and join(k, core).
template <typename Core, typename Transfers, typename Queue, typename Crossing> class FifoQueues {
public:
  /// Starts whatever can start. May schedule events at the same instant: handle those and serve
  /// again (the next round).
  void serve(std::int64_t now) {
    now_ = now;
    start_reductions();
    for (std::size_t k = 0; k < touched_count_; ++k) {
      const LinkId id = touched_[k];
      LinkState& link = links_[id.value];
      link.touched = false;
      if (link.transmitting || link.queue.empty() || !core().may_start(id)) continue;
      if (link.free_at > now)
        await_link(id);
      else if (!link.shared)
        core().start(id);
      else
        offer(id);
    }
    touched_count_ = 0;
    for (const std::uint32_t group : freed_) next_of(group);
    freed_.clear();
    while (!candidates_.empty()) {
      const Candidate first = taken(candidates_);
      consider(first);
      if (first.group != none) next_of(first.group);
    }
  }

  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] Transfers& transfers() { return transfers_; }
  [[nodiscard]] const Transfers& transfers() const { return transfers_; }
  [[nodiscard]] const Report& report() const { return report_; } ///< so far
  /// Transfers that are delivered, of all.
  [[nodiscard]] WorkProgress progress() const {
    return {transfers_.size() - transfers_.undelivered(), transfers_.size()};
  }
  /// The link's present rate, the least of its own and its groups'; 0: it is down.
  [[nodiscard]] Bandwidth rate(LinkId link) const { return links_[link.value].rate; }
  [[nodiscard]] Time latency(LinkId link) const { return Time{links_[link.value].latency}; }

  /// Sets aside what waits to be served while `body` runs, and restores it afterwards.
  template <typename Body> void apart(const Body& body) {
    const auto end = touched_.begin() + static_cast<std::ptrdiff_t>(touched_count_);
    const std::vector<LinkId> links(touched_.begin(), end);
    const std::vector<NodeId> units = std::exchange(touched_units_, {});
    const std::vector<std::uint32_t> groups = std::exchange(freed_, {});
    touched_count_ = 0;
    body();
    for (const LinkId link : links) touched_[touched_count_++] = link;
    freed_.insert(freed_.end(), groups.begin(), groups.end());
    touched_units_.insert(touched_units_.end(), units.begin(), units.end());
  }

  // What Dependencies calls.
  void delivered(std::uint32_t transfer) { transfers_.delivered(transfer, Time{now_}); }

protected:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct LinkState {
    Queue queue;
    std::int64_t free_at = 0, latency = 0; // ps
    Bandwidth rate;
    Bytes last_size;                // chunks of one size follow each other:
    std::int64_t last_duration = 0; // their serialization is worth keeping
    Crossing crossing;
    std::uint32_t waiting = none; ///< transfer at its front that waits for a group
    bool transmitting = false;
    bool shared = false, touched = false, awaited = false;
    bool from_stores = true, to_stores = true; // whether its ends can store
    bool cuts_through = false;                 // heads go on at once behind it
  };

  FifoQueues(const Topology& topology, Transfers transfers, const TimeModel& model,
             const RunOptions& options, EventQueue& events)
      : topology_(topology), model_(model), options_(options), events_(events),
        transfers_(std::move(transfers)), links_(topology.link_count()),
        groups_(topology.groups().size()), touched_(topology.link_count()),
        units_(topology.node_count(), ReductionUnit{Queue(transfers_.level_count())}) {
    report_.model = model;
    for (const Node& node : topology.nodes())
      reductions_take_time_ =
          reductions_take_time_ || reduction_rate(node, model).bytes_per_second > 0;
    report_.links.resize(topology.link_count());
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      links_[l].queue = Queue(transfers_.level_count());
      links_[l].latency = topology.link(LinkId{l}).latency.ps;
      links_[l].rate = topology.effective_bandwidth(LinkId{l});
      links_[l].shared = !topology.groups_of(LinkId{l}).empty();
      links_[l].from_stores = topology.node(topology.link(LinkId{l}).from).can.store;
      links_[l].to_stores = topology.node(topology.link(LinkId{l}).to).can.store;
      links_[l].cuts_through = cuts_through(topology.node(topology.link(LinkId{l}).to), model);
    }
  }

  void schedule(std::int64_t at, EventKind kind, std::uint32_t subject) {
    events_.push(now_, Event{at, subject, static_cast<std::uint32_t>(kind)});
  }

  void touch(LinkId id) {
    if (links_[id.value].touched) return;
    links_[id.value].touched = true;
    touched_[touched_count_++] = id;
  }

  void link_free(LinkId id) {
    links_[id.value].awaited = false;
    touch(id);
  }

  void group_free(std::uint32_t group) {
    groups_[group].awaited = false;
    freed_.push_back(group);
  }

  /// A transfer starts to cross this link: its groups are taken, its bytes counted.
  void occupy(LinkId id, Bytes size) {
    for (const std::uint32_t g : topology_.groups_of(id))
      groups_[g].free_at = now_ + serialization(size, topology_.groups()[g].bandwidth).ps;
    LinkUse& use = report_.links[id.value];
    use.bytes += size;
    ++use.transfers;
    ++report_.link_transfers;
  }

  [[nodiscard]] std::int64_t duration_on(LinkState& link, Bytes size) {
    if (size != link.last_size) {
      link.last_size = size;
      link.last_duration = serialization(size, link.rate).ps;
    }
    return link.last_duration;
  }

  [[nodiscard]] NodeId sender(std::uint32_t transfer) const {
    return topology_.link(transfers_.paths().first(transfers_.path_of(transfer))).from;
  }
  [[nodiscard]] NodeId receiver(std::uint32_t transfer) const {
    return topology_.link(transfers_.paths().last(transfers_.path_of(transfer))).to;
  }

  /// The last byte of a transfer has reached its end.
  void reached(std::uint32_t transfer) {
    if (!reductions_take_time_ || transfers_.op_of(transfer) == Op::copy ||
        rate_of_reduction(transfer).bytes_per_second == 0) {
      transfers_.arrived(transfer, core());
      return;
    }
    const NodeId node = receiver(transfer);
    units_[node.value].queue.push({now_, transfer, 0}, core().level_of(transfer));
    touch_unit(node);
  }

  void schedule_joins() {
    for (std::uint32_t k = 0; k < transfers_.joins().size(); ++k)
      schedule(transfers_.joins()[k].at.ps, EventKind::join, k);
  }

  void reduced(std::uint32_t transfer) {
    const NodeId node = receiver(transfer);
    units_[node.value].busy = false;
    if (!units_[node.value].queue.empty()) touch_unit(node);
    transfers_.arrived(transfer, core());
  }

  void sort_hops() {
    std::sort(report_.hops.begin(), report_.hops.end(), [](const HopRecord& a, const HopRecord& b) {
      return std::tie(a.start, a.link, a.transfer) < std::tie(b.start, b.link, b.transfer);
    });
  }

  const Topology& topology_;
  const TimeModel model_;
  const RunOptions options_;
  EventQueue& events_;
  Transfers transfers_;
  Report report_;
  std::int64_t now_ = 0;
  std::vector<LinkState> links_;

private:
  /// A link whose front could start: in this order, if its groups are free.
  struct Candidate {
    std::size_t level = 0;
    std::int64_t since = 0;
    std::uint32_t transfer = 0;
    LinkId link;
    std::uint32_t group = none; ///< that it has waited for
    auto operator<=>(const Candidate&) const = default;
  };
  /// Heaps whose first is the one whose turn it is.
  static void add(std::vector<Candidate>& heap, const Candidate& candidate) {
    heap.push_back(candidate);
    std::push_heap(heap.begin(), heap.end(), std::greater{});
  }
  static Candidate taken(std::vector<Candidate>& heap) {
    std::pop_heap(heap.begin(), heap.end(), std::greater{});
    const Candidate first = heap.back();
    heap.pop_back();
    return first;
  }

  /// Whoever waits for several groups waits for one of them at a time.
  struct GroupState {
    std::int64_t free_at = 0;
    bool awaited = false;
    std::vector<Candidate> waiting;
  };

  [[nodiscard]] Core& core() { return static_cast<Core&>(*this); }

  void await_link(LinkId id) {
    LinkState& link = links_[id.value];
    if (link.awaited) return;
    link.awaited = true;
    schedule(link.free_at, EventKind::link_free, id.value);
  }

  /// What stands at the front of its queue, unless it waits already.
  void offer(LinkId id) {
    const LinkState& link = links_[id.value];
    const LinkQueue::Entry& front = link.queue.front();
    if (front.transfer != link.waiting)
      add(candidates_, {core().level_of(front.transfer), front.since, front.transfer, id, none});
  }

  void await_group(std::uint32_t group) {
    if (groups_[group].awaited) return;
    groups_[group].awaited = true;
    schedule(groups_[group].free_at, EventKind::group_free, group);
  }

  /// The first that waits for a group is a candidate if the group is free.
  void next_of(std::uint32_t group) {
    GroupState& state = groups_[group];
    if (state.waiting.empty()) return;
    if (state.free_at > now_) {
      await_group(group);
      return;
    }
    const Candidate first = taken(state.waiting);
    links_[first.link.value].waiting = none;
    add(candidates_, first);
  }

  /// Starts it, or lets it wait for a group that isn't free.
  void consider(Candidate candidate) {
    LinkState& link = links_[candidate.link.value];
    // Since it began to wait its link may have gone down, or another has come to its front.
    if (link.transmitting || link.queue.empty() || !core().may_start(candidate.link)) return;
    if (link.free_at > now_) {
      await_link(candidate.link);
      return;
    }
    if (link.queue.front().transfer != candidate.transfer) {
      offer(candidate.link);
      return;
    }
    for (const std::uint32_t group : topology_.groups_of(candidate.link)) {
      if (groups_[group].free_at <= now_) continue;
      candidate.group = group;
      link.waiting = candidate.transfer;
      add(groups_[group].waiting, candidate);
      await_group(group);
      return;
    }
    core().start(candidate.link);
  }

  [[nodiscard]] Bandwidth rate_of_reduction(std::uint32_t transfer) const {
    return reduction_rate(topology_.node(receiver(transfer)), model_);
  }

  void touch_unit(NodeId node) {
    if (units_[node.value].touched) return;
    units_[node.value].touched = true;
    touched_units_.push_back(node);
  }

  void start_reductions() {
    for (const NodeId node : touched_units_) {
      ReductionUnit& unit = units_[node.value];
      unit.touched = false;
      if (unit.busy || unit.queue.empty()) continue;
      const std::uint32_t transfer = unit.queue.front().transfer;
      unit.queue.pop();
      unit.busy = true;
      schedule(now_ + serialization(transfers_.size_of(transfer), rate_of_reduction(transfer)).ps,
               EventKind::reduced, transfer);
    }
    touched_units_.clear();
  }

  bool reductions_take_time_ = false; // at some node
  std::vector<GroupState> groups_;
  std::vector<LinkId> touched_; // the first touched_count_; each link at most once
  std::size_t touched_count_ = 0;
  std::vector<NodeId> touched_units_;
  std::vector<std::uint32_t> freed_;  // groups, at the present instant
  std::vector<Candidate> candidates_; // a heap; empty but while links are served

protected:
  struct ReductionUnit {
    Queue queue;
    bool busy = false, touched = false;
  };
  std::vector<ReductionUnit> units_; // per node
};

} // namespace tutti
