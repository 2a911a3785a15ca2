// The FIFO discipline where the network changes, parts begin one by one or with priorities, routes
// are replaced, a run is frozen or may halt. FifoCore's recurrence (fifo_core.hpp), with the
// changes of network_event.hpp and RunOptions; the same times where nothing happens. FifoCore stays
// beside it since plain replays are faster there; its head has the figures.
//
// A link's rate may change while it carries data, so that no end is known before it has come.
// The maximum in e_j = max(s_j + n/B_j, e_{j-1} + a_{j-1}) therefore becomes a join of two events:
// a hop ends with the later of them, when its data has been sent and the tail of the hop before it
// has followed.
#pragma once

#include "sim/engines/changes.hpp"
#include "sim/engines/fifo_queues.hpp"
#include "sim/engines/hops.hpp"
#include "sim/engines/progress.hpp"
#include "sim/engines/scheduled_transfers.hpp"
#include "sim/engines/stuck.hpp"
#include "sim/engines/stuck_transfers.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti {

/// A link's present transmission.
struct DynamicCrossing {
  Progress progress;
  std::int64_t since = 0, start = 0; // ps; entry into the link's queue
  std::uint32_t hop = 0;             // in Hops
};

template <typename Transfers>
class DynamicCore
    : public FifoQueues<DynamicCore<Transfers>, Transfers, PriorityQueue, DynamicCrossing> {
  using Base = FifoQueues<DynamicCore<Transfers>, Transfers, PriorityQueue, DynamicCrossing>;
  friend Base;
  using Base::events_, Base::links_, Base::model_, Base::none, Base::now_, Base::options_,
      Base::report_, Base::topology_, Base::transfers_, Base::units_;
  using typename Base::LinkState;

public:
  DynamicCore(const Topology& topology, Transfers transfers, const TimeModel& model,
              const RunOptions& options, EventQueue& events)
      : Base(topology, std::move(transfers), model, options, events),
        changes_(topology, Base::transfers_.paths(), options), down_since_(links_.size()) {}

  /// What happens by the time that the run begins, and what enters then. To be followed by serve().
  std::int64_t begin() {
    now_ = quiet_ = options_.begin.ps;
    change(now_);
    if (options_.jobs.empty()) transfers_.start(*this);
    if constexpr (may_join_late) Base::schedule_joins();
    return now_;
  }

  /// When change() is to be called next, before the events of that instant.
  [[nodiscard]] std::int64_t next_change() const {
    return transfers_.undelivered() > 0 ? changes_.next() : Changes::never;
  }

  void change(std::int64_t now) {
    now_ = now;
    const Changes::Due due = changes_.take(now);
    for (const NetworkEvent& event : due.events) apply(event);
    if (due.freezes) freeze();
    if (due.reroutes) take_back();
    for (const auto& [start, part] : due.parts) transfers_.start_part(part, *this);
  }

  /// When the network or the routes change next; `never`.
  [[nodiscard]] std::int64_t next_network_change() const { return changes_.next(); }
  /// From now on the transfers of this part enter. To be followed by serve().
  void start_part(std::size_t part, std::int64_t now) {
    now_ = now;
    transfers_.start_part(part, *this);
  }
  /// From now on a member of a part that was absent sends, and what has arrived at it counts. To be
  /// followed by serve().
  void start_member(std::size_t part, std::uint32_t member, std::int64_t now) {
    now_ = now;
    for (const std::uint32_t transfer : transfers_.start_member(part, member, *this))
      Base::reached(transfer);
  }
  /// What waits for links that are down, in words; empty where nothing does.
  [[nodiscard]] std::string blocked_text() const {
    std::string text;
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      if (!is_down(LinkId{l}) || (links_[l].queue.empty() && !links_[l].transmitting)) continue;
      if (!text.empty()) text += "; ";
      text += down_text(topology_, LinkId{l}, Time{down_since_[l]});
    }
    return text;
  }

  /// Applies an event of the present instant. All events of an instant come before its serve().
  void handle(const Event& event) {
    now_ = event.at;
    switch (static_cast<EventKind>(event.kind)) {
    case EventKind::link_free: Base::link_free(LinkId{event.subject}); break;
    case EventKind::group_free: Base::group_free(event.subject); break;
    case EventKind::sent: sent(LinkId{event.subject}); break;
    case EventKind::hop: queue_hop(event.subject); break;
    case EventKind::head: head_in(event.subject); break;
    case EventKind::tail: end(event.subject); break;
    case EventKind::arrive: arrive(event.subject); break;
    case EventKind::reduced: reduced(event.subject); break;
    case EventKind::join:
      if constexpr (may_join_late) join(event.subject);
      break;
    case EventKind::left: break; // it happens when the hop is over
    }
  }

  /// Errors: InputError naming transfers that never happened, unless the run may halt.
  Report finish() {
    close_what_stands();
    if (transfers_.undelivered() > 0) {
      std::vector<StuckTransfer> stuck = stuck_transfers(transfers_, links_, hops_, frozen_);
      if (!options_.may_halt)
        throw InputError(transfers_.stuck_text(topology_, [&](std::uint32_t transfer) {
          const auto found = std::find_if(stuck.begin(), stuck.end(), [&](const StuckTransfer& s) {
            return s.transfer == transfer;
          });
          const std::int64_t since =
              found->link.valid() ? down_since_[found->link.value] : std::int64_t{0};
          return stuck_reason(topology_, *found, Time{since});
        }));
      report_.stuck = std::move(stuck);
    }
    transfers_.move_deliveries_to(report_);
    if (options_.may_halt) report_.quiet = Time{quiet_};
    Base::sort_hops();
    return std::move(report_);
  }

  // What Dependencies calls.
  void enter(std::uint32_t transfer) {
    const PathId path = changes_.route(transfers_.path_of(transfer));
    const LinkId link = transfers_.paths().first(path);
    const bool stores = links_[link.value].from_stores;
    if (changes_.is_frozen() && stores) {
      frozen_.push_back(transfer);
      return;
    }
    if (stores && options_.route_changes.empty()) { // it needs no place among the hops yet
      links_[link.value].queue.push({now_, transfer, none}, transfers_.level_of(transfer));
      Base::touch(link);
      return;
    }
    const std::uint32_t id = hops_.take();
    begin_hop(id, path, transfer, 0);
    if (!stores && !transfers_.may_end(transfer)) {
      hops_[id].tail_at = Progress::never;
      following_[transfer] = id;
    }
    queue_hop(id);
  }
  void tail_passed(std::uint32_t transfer) {
    const auto found = following_.find(transfer);
    if (found == following_.end()) return;
    const std::uint32_t hop = found->second;
    following_.erase(found);
    follow(hop, now_);
  }

private:
  using State = Hop::State;
  static constexpr bool may_join_late = requires(Transfers transfers) { transfers.joins(); };

  // Changes of the network.

  void apply(const NetworkEvent& event) {
    switch (event.kind) {
    case NetworkEvent::Kind::npu_down:
      some_npu_is_down_ = true;
      for (const auto links : {topology_.in_links(event.npu), topology_.out_links(event.npu)})
        for (const LinkId link : links) {
          if (!is_down(link)) down_since_[link.value] = event.at.ps;
          refresh(link);
        }
      stop_unit(event.npu);
      break;
    case NetworkEvent::Kind::npu_rate:
      for (const LinkId link : topology_.out_links(event.npu)) refresh(link);
      break;
    case NetworkEvent::Kind::link_down:
      down_since_[event.link.value] = event.at.ps;
      [[fallthrough]];
    default: refresh(event.link);
    }
  }

  void refresh(LinkId id) {
    LinkState& link = links_[id.value];
    const NetworkState& network = changes_.network();
    Bandwidth rate;
    if (network.is_up(id)) {
      rate = network.bandwidth(id);
      for (const std::uint32_t g : topology_.groups_of(id))
        rate = std::min(rate, topology_.groups()[g].bandwidth);
    }
    link.latency = network.latency(id).ps;
    if (rate == link.rate) return;
    link.rate = rate;
    link.last_size = {};
    if (link.transmitting && link.crossing.progress.set_rate(now_, rate)) await_end(id);
    if (!link.queue.empty()) Base::touch(id);
  }

  void stop_unit(NodeId node) {
    units_[node.value].queue.remove_if([&](const LinkQueue::Entry& entry) {
      transfers_.lose(entry.transfer);
      return true;
    });
  }

  [[nodiscard]] bool is_down(LinkId link) const {
    return links_[link.value].rate.bytes_per_second == 0;
  }
  [[nodiscard]] bool is_alive(NodeId node) const { return changes_.network().is_up(node); }

  void freeze() {
    for (LinkState& link : links_)
      link.queue.remove_if([&](const LinkQueue::Entry& entry) {
        if (!link.from_stores || (entry.flight != none && hops_[entry.flight].index > 0))
          return false;
        frozen_.push_back(entry.transfer);
        if (entry.flight != none) hops_.vacate(entry.flight);
        return true;
      });
  }

  // Queueing and starting.

  [[nodiscard]] bool may_start(LinkId link) const { return !is_down(link); }
  [[nodiscard]] std::size_t level_of(std::uint32_t transfer) const {
    return transfers_.level_of(transfer);
  }

  void begin_hop(std::uint32_t id, PathId path, std::uint32_t transfer, std::uint32_t index) {
    const auto links = transfers_.paths().links(path);
    hops_[id] = {path, transfer, index};
    hops_[id].link = links[index];
    hops_[id].is_last = index + 1 == links.size();
  }

  void queue_hop(std::uint32_t id) {
    Hop& hop = hops_[id];
    if (hop.is_taken_back) return;
    hop.state = State::queued;
    links_[hop.link.value].queue.push({now_, hop.transfer, id}, transfers_.level_of(hop.transfer));
    Base::touch(hop.link);
  }

  void start(LinkId id) {
    LinkState& link = links_[id.value];
    const LinkQueue::Entry front = link.queue.front();
    link.queue.pop();
    std::uint32_t hop_id = front.flight;
    if (hop_id == none) {
      hop_id = hops_.take();
      begin_hop(hop_id, transfers_.path_of(front.transfer), front.transfer, 0);
    }
    link.crossing.since = front.since;
    link.crossing.start = now_;
    link.crossing.hop = hop_id;
    Hop& hop = hops_[hop_id];
    const Bytes size = transfers_.size_of(hop.transfer);
    const std::int64_t due = now_ + Base::duration_on(link, size);
    Base::occupy(id, size);
    hop.state = State::crossing;
    if (options_.record_hops) hops_.start(hop_id, now_);
    hop.latency = link.latency;
    link.transmitting = true;
    link.crossing.progress.start(now_, size, link.rate, due);
    await_end(id);
    move_head(hop_id, link);
  }

  /// What was awaited before stays in the queue, and sent() doesn't heed it.
  void await_end(LinkId id) {
    const std::int64_t due = links_[id.value].crossing.progress.due();
    if (due != Progress::never)
      events_.push(now_, {due, id.value, static_cast<std::uint32_t>(EventKind::sent)});
  }

  /// What the head does before the last byte has left.
  void move_head(std::uint32_t id, const LinkState& link) {
    if (hops_[id].is_last) {
      if (!link.to_stores) Base::schedule(now_ + link.latency, EventKind::head, id);
    } else if (link.cuts_through) {
      const std::uint32_t next = hops_.take();
      Hop& hop = hops_[id];
      hop.next = next;
      begin_hop(next, hop.path, hop.transfer, hop.index + 1);
      hops_[next].tail_at = Progress::never;
      Base::schedule(now_ + link.latency, EventKind::hop, next);
    }
  }

  // Ends.

  void sent(LinkId id) {
    LinkState& link = links_[id.value];
    if (!link.transmitting || link.crossing.progress.due() != now_) return; // retimed
    const std::uint32_t hop_id = link.crossing.hop;
    Hop& hop = hops_[hop_id];
    require_representable(now_, Time{hop.latency});
    const bool for_latency_too = model_.link_busy == LinkBusy::latency_and_serialization;
    release(id, for_latency_too ? now_ + hop.latency : now_);
    quiet_ = std::max(quiet_, link.free_at);
    hop.state = State::sent;
    if (hop.tail_at <= now_)
      end(hop_id);
    else if (hop.tail_at != Progress::never)
      Base::schedule(hop.tail_at, EventKind::tail, hop_id);
  }

  /// The link is the next one's from `free_at` on.
  void release(LinkId id, std::int64_t free_at) {
    LinkState& link = links_[id.value];
    link.transmitting = false;
    link.free_at = free_at;
    report_.links[id.value].busy += Time{free_at - link.crossing.start};
    if (!link.queue.empty()) Base::touch(id);
  }

  /// What the hop follows is in at `tail_at`, and not before.
  void follow(std::uint32_t id, std::int64_t tail_at) {
    hops_[id].tail_at = tail_at;
    if (hops_[id].state == State::sent) Base::schedule(tail_at, EventKind::tail, id);
  }

  /// The last byte has left for the end of the link.
  void end(std::uint32_t id) {
    Hop& hop = hops_[id];
    record(id, now_);
    if (hop.is_taken_back) return;
    const std::uint32_t transfer = hop.transfer;
    const bool leaves_sender = hop.index == 0;
    const std::int64_t there = now_ + hop.latency;
    quiet_ = std::max(quiet_, there);
    if (hop.is_last) {
      hop.state = State::over;
      Base::schedule(there, EventKind::arrive, id);
    } else if (hop.next != none) {
      hops_.vacate(id);
      follow(hop.next, there);
    } else {
      begin_hop(id, hop.path, transfer, hop.index + 1);
      Base::schedule(there, EventKind::hop, id);
    }
    if (leaves_sender) leave(transfer);
  }

  void leave(std::uint32_t transfer) {
    if (!transfers_.watched(transfer)) return;
    if (!some_npu_is_down_ || is_alive(Base::sender(transfer))) transfers_.left(transfer, *this);
  }

  void record(std::uint32_t id, std::int64_t end) {
    if (options_.record_hops)
      report_.hops.push_back(
          {hops_[id].transfer, hops_[id].link, Time{hops_.start_of(id)}, Time{end}});
  }

  // Events of hops.

  void head_in(std::uint32_t id) {
    const Hop& hop = hops_[id];
    if (hop.is_taken_back || !is_alive(Base::receiver(hop.transfer))) return;
    transfers_.head_in(hop.transfer, *this);
  }

  void arrive(std::uint32_t id) {
    if (hops_[id].is_taken_back) return;
    const std::uint32_t transfer = hops_[id].transfer;
    const LinkId link = hops_[id].link;
    hops_.vacate(id);
    if (some_npu_is_down_ && !is_alive(topology_.link(link).to)) {
      transfers_.lose(transfer);
      return;
    }
    if (!links_[link.value].to_stores) {
      transfers_.tail_in(transfer, *this);
    } else if (transfers_.keeps_waiting(transfer, now_)) {
      return;
    }
    Base::reached(transfer);
  }

  /// What has arrived before is left alone in a run that was frozen, whatever becomes of the NPU
  /// afterwards, and is lost with one that has died.
  void join(std::uint32_t k) {
    const NodeId node = transfers_.joins()[k].node;
    for (const std::uint32_t transfer : transfers_.join(k, *this)) {
      if (changes_.is_frozen()) {
        transfers_.keep(transfer);
      } else if (!is_alive(node)) {
        transfers_.lose(transfer);
      } else {
        quiet_ = std::max(quiet_, now_);
        Base::reached(transfer);
      }
    }
  }

  void reduced(std::uint32_t transfer) {
    if (!is_alive(Base::receiver(transfer))) {
      transfers_.lose(transfer);
      return;
    }
    quiet_ = std::max(quiet_, now_);
    Base::reduced(transfer);
  }

  // Other routes.

  /// Takes back what has entered over another path than it would now and has a link before it that
  /// is down, and lets it enter anew.
  void take_back() {
    const auto present = hops_.first_of_each([&](const Hop& hop) {
      return hop.state != State::over &&
             hop.path != changes_.route(transfers_.path_of(hop.transfer));
    });
    std::map<std::uint32_t, std::uint32_t> blocked; // by transfer: the index of the link
    for (const auto& [transfer, id] : present) {
      const auto links = transfers_.paths().links(hops_[id].path);
      for (std::uint32_t index = hops_[id].index; index < links.size(); ++index)
        if (is_down(links[index])) {
          blocked.emplace(transfer, index);
          break;
        }
    }
    if (blocked.empty()) return;
    for (std::uint32_t id = 0; id < hops_.size(); ++id) {
      const auto found = blocked.find(hops_[id].transfer);
      if (found == blocked.end() || hops_[id].state == State::vacant || hops_[id].is_taken_back)
        continue;
      take_back(id, found->second);
    }
    for (const auto& [transfer, index] : blocked) {
      following_.erase(transfer);
      enter(transfer);
    }
  }

  /// What runs beyond the link that is down keeps its own links busy to the end; the rest stops.
  void take_back(std::uint32_t id, std::uint32_t blocked_at) {
    Hop& hop = hops_[id];
    const LinkId link = hop.link;
    hop.is_taken_back = true;
    hop.tail_at = 0;
    if (hop.state == State::queued)
      links_[link.value].queue.remove_if(
          [&](const LinkQueue::Entry& entry) { return entry.flight == id; });
    if (hop.state != State::crossing || hop.index > blocked_at) return;
    report_.links[link.value].bytes =
        report_.links[link.value].bytes - links_[link.value].crossing.progress.rest(now_);
    record(id, now_);
    release(link, now_);
  }

  // What stands still at the end.

  /// A crossing that will never end counts as far as it came.
  void close_what_stands() {
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      if (!links_[l].transmitting) continue;
      const DynamicCrossing& crossing = links_[l].crossing;
      const std::int64_t since = crossing.progress.since();
      report_.links[l].busy += Time{since - crossing.start};
      report_.links[l].bytes = report_.links[l].bytes - crossing.progress.rest(since);
      record(crossing.hop, since);
    }
  }

  Changes changes_;
  Hops hops_;
  std::vector<std::uint32_t> frozen_;                          // transfers that would have entered
  std::unordered_map<std::uint32_t, std::uint32_t> following_; // transfer to its waiting first hop
  std::vector<std::int64_t> down_since_;                       // per link
  std::int64_t quiet_ = 0;
  bool some_npu_is_down_ = false;
};

} // namespace tutti
