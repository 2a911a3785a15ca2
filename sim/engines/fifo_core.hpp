// The FIFO discipline on a network that nothing happens to: queues, starts and hops. The
// specification:
//
// A transfer queues at the first link of its path when Dependencies lets it enter; at each further
// link when it gets there. Queues are served in order of entry, ties by list position; buffers are
// unbounded. Hop j, of size n over a link with latency a_j, groups g and effective bandwidth B_j:
//     s_j = max(head_j, link free, groups free)
//     e_j = max(s_j + n/B_j, e_{j-1} + a_{j-1} in cut-through)        arrival = e_last + a_last
//     head_{j+1} = s_j + a_j behind a node that can't store, e_j + a_j behind one that can
//     link busy until s_j + n/B_j (plus a_j in latency+serialization), each group for n/B_g
// fifo_queues.hpp has the order of starts and the reductions; dynamic_core.hpp the same for
// networks that change. That core could replay these runs too, but takes 1.3 to 1.4 times as long
// (All-to-Alls of 64 NPUs, medians of CPU time).
#pragma once

#include "sim/engines/fifo_queues.hpp"
#include "sim/engines/scheduled_transfers.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

/// What becomes of a flight when its transmission ends: nothing, if the head has taken it along.
enum class ThenFlight : std::uint8_t { nothing, hop, arrive };

/// A link's present transmission: e_j, its flight and what becomes of that, and the transfer that
/// leaves its sender, where something waits for it.
struct PlainCrossing {
  std::int64_t data_end = 0;
  std::uint32_t flight = 0, leaving = UINT32_MAX;
  ThenFlight then = ThenFlight::nothing;
};

/// LinkQueue, where all have one priority.
class PlainQueue : public LinkQueue {
public:
  explicit PlainQueue(std::size_t = 1) {}
  void push(const Entry& entry, std::size_t) { LinkQueue::push(entry); }
};

/// What follows from a transmission (link free, next hop, arrival) is scheduled when it ends, so
/// that on a native queue only its end has a delay that depends on the size.
class FifoCore : public FifoQueues<FifoCore, ScheduledTransfers, PlainQueue, PlainCrossing> {
  using Base = FifoQueues<FifoCore, ScheduledTransfers, PlainQueue, PlainCrossing>;
  friend Base;
  using Base::events_, Base::links_, Base::model_, Base::none, Base::now_, Base::options_,
      Base::report_, Base::topology_, Base::transfers_;
  using typename Base::LinkState;

public:
  FifoCore(const Topology& topology, const Collective& collective, const Schedule& schedule,
           const TimeModel& model, const RunOptions& options, EventQueue& events)
      : Base(topology, ScheduledTransfers(topology, collective, schedule, options), model, options,
             events) {}

  /// What enters at time 0. To be followed by serve().
  std::int64_t begin() {
    transfers_.start(*this);
    Base::schedule_joins();
    return 0;
  }

  /// When change() is to be called next, before the events of that instant.
  static constexpr std::int64_t next_change() { return EventQueue::never; }
  void change(std::int64_t) {}

  /// Applies an event of the present instant. All events of an instant come before its serve().
  void handle(const Event& event) {
    now_ = event.at;
    switch (static_cast<EventKind>(event.kind)) {
    case EventKind::link_free: Base::link_free(LinkId{event.subject}); break;
    case EventKind::group_free: Base::group_free(event.subject); break;
    case EventKind::sent: end_transmission(LinkId{event.subject}); break;
    case EventKind::left: transfers_.left(event.subject, *this); break;
    case EventKind::hop: queue_hop(event.subject); break;
    case EventKind::head:
      transfers_.cut_through(flights_[event.subject].transfer, flights_[event.subject].tail, *this);
      break;
    case EventKind::arrive: arrive(event.subject); break;
    case EventKind::reduced: Base::reduced(event.subject); break;
    case EventKind::join:
      for (const std::uint32_t transfer : transfers_.join(event.subject, *this))
        Base::reached(transfer);
      break;
    case EventKind::tail: break; // only where ends are not known in advance
    }
  }

  /// Errors: InputError naming transfers that never happened.
  Report finish() {
    if (transfers_.undelivered() > 0) throw InputError(transfers_.stuck_text(topology_));
    transfers_.move_deliveries_to(report_);
    Base::sort_hops();
    return std::move(report_);
  }

  // What Dependencies calls.
  void enter(std::uint32_t transfer) {
    const std::uint32_t flight = take_flight();
    const std::uint32_t path = transfers_.path_of(transfer).value;
    const std::span<const std::size_t> offsets = transfers_.paths().offsets();
    flights_[flight] = {transfers_.tail(transfer),
                        transfers_.size_of(transfer),
                        offsets[path],
                        static_cast<std::uint32_t>(offsets[path + 1] - offsets[path]) - 1,
                        transfer,
                        true};
    queue_hop(flight);
  }

private:
  /// A transfer under way; all of it that a hop needs.
  struct Flight {
    std::int64_t tail = 0; // this hop can't end before
    Bytes size;
    std::size_t link = 0;        // PathTable::all_links()
    std::uint32_t hops_left = 0; // after this one
    std::uint32_t transfer = 0;
    bool at_sender = true;
  };
  /// On to its next link.
  static void move_on(Flight& flight) {
    ++flight.link;
    --flight.hops_left;
    flight.at_sender = false;
  }

  static constexpr bool may_start(LinkId) { return true; }
  static constexpr std::size_t level_of(std::uint32_t) { return 0; }

  std::uint32_t take_flight() {
    if (free_flights_.empty()) {
      flights_.emplace_back();
      return static_cast<std::uint32_t>(flights_.size() - 1);
    }
    const std::uint32_t flight = free_flights_.back();
    free_flights_.pop_back();
    return flight;
  }

  void queue_hop(std::uint32_t flight) {
    const Flight& under_way = flights_[flight];
    const LinkId id = transfers_.paths().all_links()[under_way.link];
    links_[id.value].queue.push({now_, under_way.transfer, flight}, 0);
    Base::touch(id);
  }

  void start(LinkId id) {
    LinkState& link = links_[id.value];
    const std::uint32_t flight_id = link.queue.front().flight;
    link.queue.pop();
    const Flight& flight = flights_[flight_id];
    const std::int64_t sent = now_ + Base::duration_on(link, flight.size);
    const std::int64_t end = std::max(sent, flight.tail);
    require_representable(end, Time{link.latency});
    link.free_at = model_.link_busy == LinkBusy::serialization ? sent : sent + link.latency;
    Base::occupy(id, flight.size);
    report_.links[id.value].busy += Time{link.free_at - now_};
    if (options_.record_hops) report_.hops.push_back({flight.transfer, id, Time{now_}, Time{end}});

    link.transmitting = true;
    link.crossing.data_end = end;
    link.crossing.flight = flight_id;
    link.crossing.leaving =
        flight.at_sender && transfers_.watched(flight.transfer) ? flight.transfer : none;
    events_.push(now_, {sent, id.value, static_cast<std::uint32_t>(EventKind::sent)});
    move_head(id, flight_id, end);
  }

  /// What the head of the flight does before the last byte has left link `id`.
  void move_head(LinkId id, std::uint32_t flight_id, std::int64_t end) {
    LinkState& link = links_[id.value];
    Flight& flight = flights_[flight_id];
    const bool last_hop = flight.hops_left == 0;
    link.crossing.then = last_hop ? ThenFlight::arrive : ThenFlight::hop;
    if (last_hop && !link.to_stores) {
      flight.tail = end + link.latency;
      Base::schedule(now_ + link.latency, EventKind::head, flight_id);
    } else if (!last_hop && link.cuts_through) {
      link.crossing.then = ThenFlight::nothing;
      flight.tail = end + link.latency;
      move_on(flight);
      Base::schedule(now_ + link.latency, EventKind::hop, flight_id);
    }
  }

  void end_transmission(LinkId id) {
    LinkState& link = links_[id.value];
    const PlainCrossing& crossing = link.crossing;
    link.transmitting = false;
    if (!link.queue.empty()) Base::touch(id);
    if (crossing.leaving != none) {
      if (crossing.data_end == now_)
        transfers_.left(crossing.leaving, *this);
      else
        Base::schedule(crossing.data_end, EventKind::left, crossing.leaving);
    }
    const std::int64_t there = crossing.data_end + link.latency;
    if (crossing.then == ThenFlight::arrive)
      Base::schedule(there, EventKind::arrive, crossing.flight);
    if (crossing.then == ThenFlight::hop) {
      Flight& flight = flights_[crossing.flight];
      flight.tail = 0;
      move_on(flight);
      Base::schedule(there, EventKind::hop, crossing.flight);
    }
  }

  void arrive(std::uint32_t flight) {
    free_flights_.push_back(flight);
    const std::uint32_t transfer = flights_[flight].transfer;
    if (!transfers_.keeps_waiting(transfer, now_)) Base::reached(transfer);
  }

  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_flights_;
};

} // namespace tutti
