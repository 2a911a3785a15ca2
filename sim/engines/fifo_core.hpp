// The FIFO discipline: queues, starts and hops, whatever drives the clock. The specification:
//
// A transfer queues at the first link of its path when Dependencies lets it enter; at each further
// link when it gets there. Queues are served in order of entry, ties by list position; buffers are
// unbounded. Hop j, of size n over a link with latency a_j, groups g and effective bandwidth B_j:
//     s_j = max(head_j, link free, groups free)
//     e_j = max(s_j + n/B_j, e_{j-1} + a_{j-1} in cut-through)        arrival = e_last + a_last
//     head_{j+1} = s_j + a_j behind a node that can't store, e_j + a_j behind one that can
//     link busy until s_j + n/B_j (plus a_j in latency+serialization), each group for n/B_g
// Starts at one instant happen in order of queue entry, then list position; what enters at that
// same instant (zero latency) takes part in the next round. A reduction at a node with a rate
// occupies the node's reduction unit for n/rate, one after another, before its arrival counts.
#pragma once

#include "sim/engines/dependencies.hpp"
#include "sim/engines/engine.hpp"
#include "sim/engines/event_queue.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

/// One link's waiting transfers, by entry time, then list position. Entry times never fall, so a
/// new entry belongs at the end, or among the last ones of the same instant.
class LinkQueue {
public:
  struct Entry {
    std::int64_t since = 0; // ps
    std::uint32_t transfer = 0, flight = 0;
  };
  [[nodiscard]] bool empty() const { return first_ == entries_.size(); }
  [[nodiscard]] const Entry& front() const { return entries_[first_]; }
  void push(const Entry& entry) {
    if (first_ == entries_.size()) {
      entries_.clear();
      first_ = 0;
    } else if (first_ > 64 && 2 * first_ > entries_.size()) {
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    std::size_t i = entries_.size();
    entries_.push_back(entry);
    for (; i > first_ && entries_[i - 1].since == entry.since &&
           entries_[i - 1].transfer > entry.transfer;
         --i)
      entries_[i] = entries_[i - 1];
    entries_[i] = entry;
  }
  void pop() { ++first_; }

private:
  std::vector<Entry> entries_; // entries_[first_ ..] are waiting
  std::size_t first_ = 0;
};

/// `Clock` has schedule(now, Event): the event happens at event.at; and transmit(now, Event): until
/// event.at the link event.subject carries data, then the event happens. What follows from a
/// transmission (link free, next hop, arrival) is scheduled when it ends, so that on a native queue
/// only its end has a delay that depends on the size.
template <typename Clock> class FifoCore {
public:
  FifoCore(const Topology& topology, const Collective& collective, const Schedule& schedule,
           const TimeModel& model, const RunOptions& options, Clock& clock)
      : topology_(topology), collective_(collective), schedule_(schedule), model_(model),
        options_(options), clock_(clock), dependencies_(topology, collective, schedule),
        links_(topology.link_count()), groups_(topology.groups().size()),
        reduction_free_(topology.node_count()) {
    report_.model = model;
    report_.links.resize(topology.link_count());
    report_.chunk_done.resize(collective.chunks.size());
    if (options.record_deliveries) report_.deliveries.resize(schedule.size());
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      links_[l].latency = topology.link(LinkId{l}).latency.ps;
      links_[l].rate = topology.effective_bandwidth(LinkId{l});
      links_[l].shared = !topology.groups_of(LinkId{l}).empty();
    }
  }

  /// What enters at time 0. To be followed by serve().
  void begin() { dependencies_.start(*this); }

  /// Applies an event of the present instant. All events of an instant come before its serve().
  void handle(const Event& event) {
    now_ = event.at;
    switch (static_cast<Kind>(event.kind)) {
    case Kind::link_free:
      links_[event.subject].awaited = false;
      touch(LinkId{event.subject});
      break;
    case Kind::group_free:
      groups_[event.subject].awaited = false;
      for (const LinkId link : topology_.groups()[event.subject].links)
        if (!links_[link.value].queue.empty()) touch(link);
      break;
    case Kind::sent: end_transmission(LinkId{event.subject}); break;
    case Kind::left: dependencies_.left(event.subject, *this); break;
    case Kind::hop: queue_hop(event.subject); break;
    case Kind::head:
      dependencies_.cut_through(flights_[event.subject].transfer, flights_[event.subject].tail,
                                *this);
      break;
    case Kind::arrive: arrive(event.subject); break;
    case Kind::reduced: dependencies_.arrived(event.subject, *this); break;
    }
  }

  /// Starts whatever can start. May schedule events at the same instant: handle those and serve
  /// again (the next round).
  void serve(std::int64_t now) {
    now_ = now;
    start_reductions();
    candidates_.clear();
    for (std::size_t k = 0; k < touched_.size(); ++k) {
      const LinkId id = touched_[k];
      LinkState& link = links_[id.value];
      link.touched = false;
      if (link.queue.empty() || link.transmitting) continue;
      if (link.free_at > now) {
        await_link(id);
      } else if (link.shared) {
        candidates_.push_back({link.queue.front().since, link.queue.front().transfer, id});
      } else {
        start(id);
      }
    }
    touched_.clear();
    std::sort(candidates_.begin(), candidates_.end());
    for (const auto& [since, transfer, id] : candidates_)
      if (groups_are_free(id)) start(id);
  }

  /// Errors: InputError naming transfers that never happened.
  Report finish() {
    if (dependencies_.undelivered() > 0) throw InputError(dependencies_.stuck_text(topology_));
    std::sort(report_.hops.begin(), report_.hops.end(), [](const HopRecord& a, const HopRecord& b) {
      return std::tie(a.start, a.link, a.transfer) < std::tie(b.start, b.link, b.transfer);
    });
    return std::move(report_);
  }

  // What Dependencies calls.
  void enter(std::uint32_t transfer) {
    const std::uint32_t flight = take_flight();
    flights_[flight] = {dependencies_.tail(transfer), transfer, 0};
    queue_hop(flight);
  }
  void delivered(std::uint32_t transfer) {
    Time& done = report_.chunk_done[schedule_[transfer].chunk.value];
    done = std::max(done, Time{now_});
    report_.completion = std::max(report_.completion, Time{now_});
    if (options_.record_deliveries) report_.deliveries[transfer] = Time{now_};
  }

private:
  enum class Kind : std::uint32_t {
    sent, // a link's transmission ends
    link_free,
    group_free,
    left,
    hop,
    head,
    arrive,
    reduced
  };

  static constexpr std::uint32_t none = UINT32_MAX;

  /// What follows when a transmission ends: nothing, if the head has taken the flight along.
  enum class Then : std::uint8_t { nothing, hop, arrive };

  struct LinkState {
    LinkQueue queue;
    std::int64_t free_at = 0, latency = 0; // ps
    Bandwidth rate;
    Bytes last_size;                // chunks of one size follow each other:
    std::int64_t last_duration = 0; // their serialization is worth keeping
    // Of the present transmission: e_j, its flight and what becomes of that, and the transfer that
    // leaves its sender, where something waits for it.
    std::int64_t data_end = 0;
    std::uint32_t flight = 0, leaving = none;
    Then then = Then::nothing;
    bool transmitting = false;
    bool shared = false, touched = false, awaited = false;
  };
  struct GroupState {
    std::int64_t free_at = 0;
    bool awaited = false;
  };
  /// A transfer under way.
  struct Flight {
    std::int64_t tail = 0; // this hop can't end before
    std::uint32_t transfer = 0, hop = 0;
  };

  std::uint32_t take_flight() {
    if (free_flights_.empty()) {
      flights_.emplace_back();
      return static_cast<std::uint32_t>(flights_.size() - 1);
    }
    const std::uint32_t flight = free_flights_.back();
    free_flights_.pop_back();
    return flight;
  }

  void schedule(std::int64_t at, Kind kind, std::uint32_t subject) {
    clock_.schedule(now_, Event{at, subject, static_cast<std::uint32_t>(kind)});
  }

  void touch(LinkId id) {
    if (links_[id.value].touched) return;
    links_[id.value].touched = true;
    touched_.push_back(id);
  }

  void await_link(LinkId id) {
    LinkState& link = links_[id.value];
    if (link.awaited) return;
    link.awaited = true;
    schedule(link.free_at, Kind::link_free, id.value);
  }

  bool groups_are_free(LinkId id) {
    bool free = true;
    for (const std::uint32_t g : topology_.groups_of(id)) {
      GroupState& group = groups_[g];
      if (group.free_at <= now_) continue;
      free = false;
      if (group.awaited) continue;
      group.awaited = true;
      schedule(group.free_at, Kind::group_free, g);
    }
    return free;
  }

  void queue_hop(std::uint32_t flight) {
    const Flight& under_way = flights_[flight];
    const LinkId id = schedule_.paths().links(schedule_.path_of(under_way.transfer))[under_way.hop];
    links_[id.value].queue.push({now_, under_way.transfer, flight});
    touch(id);
  }

  [[nodiscard]] std::int64_t duration_on(LinkState& link, Bytes size) {
    if (size != link.last_size) {
      link.last_size = size;
      link.last_duration = serialization(size, link.rate).ps;
    }
    return link.last_duration;
  }

  [[nodiscard]] bool cuts_through(NodeId node) const {
    return model_.forwarding == Forwarding::cut_through ||
           (model_.forwarding == Forwarding::automatic && !topology_.node(node).can.store);
  }

  void start(LinkId id) {
    LinkState& link = links_[id.value];
    const std::uint32_t flight_id = link.queue.front().flight;
    link.queue.pop();
    Flight& flight = flights_[flight_id];
    const Transfer transfer = schedule_[flight.transfer];
    const Bytes size = collective_.chunks[transfer.chunk.value].size;
    const std::int64_t sent = now_ + duration_on(link, size);
    const std::int64_t end = std::max(sent, flight.tail);
    require_representable(end, Time{link.latency});
    link.free_at = model_.link_busy == LinkBusy::serialization ? sent : sent + link.latency;
    for (const std::uint32_t g : topology_.groups_of(id))
      groups_[g].free_at = now_ + serialization(size, topology_.groups()[g].bandwidth).ps;

    LinkUse& use = report_.links[id.value];
    use.bytes += size;
    use.busy += Time{link.free_at - now_};
    ++use.transfers;
    ++report_.link_transfers;
    if (options_.record_hops) report_.hops.push_back({flight.transfer, id, Time{now_}, Time{end}});

    link.transmitting = true;
    link.data_end = end;
    link.flight = flight_id;
    link.leaving =
        flight.hop == 0 && dependencies_.watched(flight.transfer) ? flight.transfer : none;
    clock_.transmit(now_, {sent, id.value, static_cast<std::uint32_t>(Kind::sent)});
    move_head(id, flight_id, end, transfer.path);
  }

  /// What the head of the flight does before the last byte has left link `id`.
  void move_head(LinkId id, std::uint32_t flight_id, std::int64_t end, PathId path) {
    LinkState& link = links_[id.value];
    Flight& flight = flights_[flight_id];
    const NodeId next = topology_.link(id).to;
    const bool last_hop = flight.hop + 1 == schedule_.paths().links(path).size();
    link.then = last_hop ? Then::arrive : Then::hop;
    if (last_hop && !topology_.node(next).can.store) {
      flight.tail = end + link.latency;
      schedule(now_ + link.latency, Kind::head, flight_id);
    } else if (!last_hop && cuts_through(next)) {
      link.then = Then::nothing;
      flight.tail = end + link.latency;
      ++flight.hop;
      schedule(now_ + link.latency, Kind::hop, flight_id);
    }
  }

  void end_transmission(LinkId id) {
    LinkState& link = links_[id.value];
    link.transmitting = false;
    if (!link.queue.empty()) touch(id);
    if (link.leaving != none) {
      if (link.data_end == now_)
        dependencies_.left(link.leaving, *this);
      else
        schedule(link.data_end, Kind::left, link.leaving);
    }
    if (link.then == Then::arrive)
      schedule(link.data_end + link.latency, Kind::arrive, link.flight);
    if (link.then == Then::hop) {
      Flight& flight = flights_[link.flight];
      flight.tail = 0;
      ++flight.hop;
      schedule(link.data_end + link.latency, Kind::hop, link.flight);
    }
  }

  void arrive(std::uint32_t flight) {
    const std::uint32_t transfer = flights_[flight].transfer;
    free_flights_.push_back(flight);
    if (schedule_[transfer].op == Op::reduce && rate_of_reduction(transfer).bytes_per_second > 0)
      reducing_.push_back(transfer);
    else
      dependencies_.arrived(transfer, *this);
  }

  [[nodiscard]] NodeId receiver(std::uint32_t transfer) const {
    return topology_.link(schedule_.paths().last(schedule_.path_of(transfer))).to;
  }

  [[nodiscard]] Bandwidth rate_of_reduction(std::uint32_t transfer) const {
    return reduction_rate(topology_.node(receiver(transfer)), model_);
  }

  /// Reductions that arrived at this instant take their node's unit in list order.
  void start_reductions() {
    std::sort(reducing_.begin(), reducing_.end());
    for (const std::uint32_t i : reducing_) {
      const Bytes size = collective_.chunks[schedule_[i].chunk.value].size;
      std::int64_t& free_at = reduction_free_[receiver(i).value];
      free_at = std::max(free_at, now_) + serialization(size, rate_of_reduction(i)).ps;
      schedule(free_at, Kind::reduced, i);
    }
    reducing_.clear();
  }

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  const TimeModel model_;
  const RunOptions options_;
  Clock& clock_;
  Dependencies dependencies_;
  Report report_;
  std::int64_t now_ = 0;
  std::vector<LinkState> links_;
  std::vector<GroupState> groups_;
  std::vector<std::int64_t> reduction_free_; // per node
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_flights_, reducing_;
  std::vector<LinkId> touched_;
  std::vector<std::tuple<std::int64_t, std::uint32_t, LinkId>> candidates_;
};

} // namespace tutti
