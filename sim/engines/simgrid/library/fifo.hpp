// The rules of FIFO, written from the specification (docs/model.md) and not from the native
// engine's cores; how long things take, SimGrid says. Two engines that share no decision can check
// each other. In common they have the state of a network after its events (NetworkState), how long
// a reduction takes, and words.
//
// A transfer's crossing of a link is a record: on its way there, in the link's queue, on the link,
// over it. Nobody knows when it ends before it has ended, since rates may change meanwhile. Where
// its head goes ahead, the crossing of the next link therefore ends with the later of two events:
// its own bytes are over, and the tail before it is in.
#pragma once

#include "sim/engines/simgrid/library/network.hpp"
#include "sim/network_event.hpp"
#include "sim/report.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti {

/// What has the higher priority is served first, among equals what entered first, at one instant
/// what is listed first.
struct Turn {
  std::uint64_t entry = 0; ///< level of priority, 0 the highest, then instant of entry, counted
  std::uint32_t transfer = 0, hop = 0;
  std::uint32_t crossing = 0; ///< that waits

  Turn(std::uint32_t level, std::uint64_t instant, std::uint32_t of_transfer, std::uint32_t of_hop,
       std::uint32_t of_crossing)
      : entry(std::uint64_t{level} << 56U | instant), transfer(of_transfer), hop(of_hop),
        crossing(of_crossing) {}

  bool operator>(const Turn& other) const {
    if (entry != other.entry) return entry > other.entry;
    return transfer != other.transfer ? transfer > other.transfer : hop > other.hop;
  }
};

/// Who waits at one place.
class Turns {
public:
  [[nodiscard]] bool empty() const { return turns_.empty(); }
  /// Pre: not empty; so for pop().
  [[nodiscard]] const Turn& front() const { return turns_.front(); }
  void push(const Turn& turn) {
    turns_.push_back(turn);
    std::ranges::push_heap(turns_, std::greater{});
  }
  Turn pop() {
    std::ranges::pop_heap(turns_, std::greater{});
    const Turn first = turns_.back();
    turns_.pop_back();
    return first;
  }
  /// Takes out those that `leaves` is true of. O(length).
  template <typename Leaves> void take_out(const Leaves& leaves) {
    std::erase_if(turns_, leaves);
    std::ranges::make_heap(turns_, std::greater{});
  }

private:
  std::vector<Turn> turns_; // a heap
};

/// What happens, in the order in which it counts at one instant.
enum class FifoKind : std::uint32_t {
  begin, ///< and `change`, `part`, `join`: for who runs the rules
  change,
  part,
  crossed,    ///< subject: link
  link_free,  ///< subject: link
  group_free, ///< subject: group
  queued,     ///< subject: crossing; it and `tail` come from the link before
  head,       ///< subject: crossing
  tail,       ///< subject: crossing
  arrive,     ///< subject: crossing
  reduced,    ///< subject: transfer
  join,
};

/// `Transfers` knows by their numbers what can be under way: path_of(i) in paths(), size_of(i),
/// op_of(i), level_of(i), what Precedence has, delivered(i, now) and keeps_waiting(i, now): whether
/// what has arrived waits for its receiver to start.
template <typename Transfers> class Fifo {
public:
  static constexpr std::uint32_t none = UINT32_MAX;

  /// A transfer's crossing of one link.
  struct Crossing {
    enum class Place : std::uint8_t { way, queue, link, over, ended, vacant };
    PathId path;
    std::uint32_t transfer = 0, hop = 0;
    std::uint32_t next = none; ///< that of its head, where it has gone ahead
    Place place = Place::way;
    bool is_tail_in = true, is_taken_back = false;
    Time latency, since; ///< of the link when it starts; when it entered the queue
    double start = 0;    ///< s
  };

  Fifo(const Topology& topology, Transfers transfers, const TimeModel& model, bool record_hops,
       SimGridNetwork& network)
      : topology_(topology), transfers_(std::move(transfers)), model_(model),
        records_hops_(record_hops), state_(topology), network_(network),
        links_(topology.link_count()), group_is_busy_(topology.groups().size()),
        units_(topology.node_count()) {
    report_.model = model;
    report_.links.resize(topology.link_count());
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      const Link& link = topology.link(LinkId{l});
      links_[l].latency = link.latency;
      links_[l].is_shared = !topology.groups_of(LinkId{l}).empty();
      links_[l].cuts = model.forwarding == Forwarding::cut_through ||
                       (model.forwarding == Forwarding::automatic && !stores(link.to));
    }
  }

  [[nodiscard]] Transfers& transfers() { return transfers_; }
  [[nodiscard]] const Transfers& transfers() const { return transfers_; }

  /// What has arrived before its receiver was there.
  void take_in_late(std::uint32_t i) {
    if (!is_alive(receiver(i))) {
      transfers_.lose(i);
      return;
    }
    quiet_ = std::max(quiet_, network_.now());
    take_in(i);
  }

  // What the network says.

  void begin_instant() { ++instant_; }
  void happened(const Happening& happening) {
    const std::uint32_t subject = happening.subject;
    switch (static_cast<FifoKind>(happening.kind)) {
    case FifoKind::crossed: has_crossed(subject); break;
    case FifoKind::link_free: free(subject); break;
    case FifoKind::group_free:
      group_is_busy_[subject] = false;
      for (const LinkId link : topology_.groups()[subject].links)
        if (!links_[link.value].queue.empty()) touch(link.value);
      break;
    case FifoKind::queued:
      if (!crossings_[subject].is_taken_back) line_up(subject);
      break;
    case FifoKind::head:
      if (!crossings_[subject].is_taken_back && is_alive(receiver_of_crossing(subject)))
        transfers_.head_in(crossings_[subject].transfer, *this);
      break;
    case FifoKind::tail:
      if (crossings_[subject].is_taken_back) break;
      follow(subject);
      break;
    case FifoKind::arrive: arrive(subject); break;
    case FifoKind::reduced: reduced(subject); break;
    case FifoKind::begin:
    case FifoKind::change:
    case FifoKind::part:
    case FifoKind::join: break;
    }
  }

  /// Starts whatever can start.
  void serve() {
    start_reductions();
    candidates_.clear();
    for (const std::uint32_t l : touched_) {
      LinkState& link = links_[l];
      link.is_touched = false;
      if (link.is_busy || link.is_down || link.queue.empty()) continue;
      if (link.is_shared)
        candidates_.push_back({link.queue.front(), l});
      else
        start(l);
    }
    touched_.clear();
    std::ranges::sort(candidates_, [](const auto& a, const auto& b) { return b.first > a.first; });
    for (const auto& [turn, l] : candidates_)
      if (std::ranges::none_of(topology_.groups_of(LinkId{l}),
                               [&](std::uint32_t g) { return group_is_busy_[g]; }))
        start(l);
  }

  // What Precedence says.

  void enter(std::uint32_t i) {
    const NodeId from = sender(i);
    if (is_frozen_ && stores(from)) {
      frozen_.push_back(i);
      return;
    }
    const PathId path = transfers_.path_of(i);
    const bool follows = !stores(from) && !transfers_.may_end(i);
    const std::uint32_t c = make_crossing(routes_.empty() ? path : routes_[path.value], i, 0);
    if (follows) {
      crossings_[c].is_tail_in = false;
      following_[i] = c;
    }
    line_up(c);
  }
  void delivered(std::uint32_t i) { transfers_.delivered(i, network_.now()); }
  /// All tails that transfer i follows are in.
  void tail_passed(std::uint32_t i) {
    const auto found = following_.find(i);
    if (found == following_.end()) return;
    const std::uint32_t c = found->second;
    following_.erase(found);
    follow(c);
  }

protected:
  using Place = typename Crossing::Place;

  struct LinkState {
    Turns queue;
    std::uint32_t crossing = none;
    Time latency, down_since;
    double stopped = 0, busy = 0; ///< s
    bool is_busy = false, is_crossed = false, is_down = false;
    bool is_shared = false, cuts = false, is_touched = false;
  };
  struct Unit { ///< of reductions
    Turns queue;
    bool is_busy = false;
  };

  static Time rounded(double seconds) { return Time{std::llround(seconds * 1e12)}; }

  [[nodiscard]] bool stores(NodeId node) const { return topology_.node(node).can.store; }
  [[nodiscard]] bool is_alive(NodeId node) const { return state_.is_up(node); }
  [[nodiscard]] LinkId link_of(std::uint32_t c) const {
    return transfers_.paths().links(crossings_[c].path)[crossings_[c].hop];
  }
  [[nodiscard]] NodeId receiver_of_crossing(std::uint32_t c) const {
    return topology_.link(link_of(c)).to;
  }
  [[nodiscard]] bool is_last(std::uint32_t c) const {
    return crossings_[c].hop + 1 == transfers_.paths().links(crossings_[c].path).size();
  }
  [[nodiscard]] NodeId sender(std::uint32_t i) const {
    return topology_.link(transfers_.paths().first(transfers_.path_of(i))).from;
  }
  [[nodiscard]] NodeId receiver(std::uint32_t i) const {
    return topology_.link(transfers_.paths().last(transfers_.path_of(i))).to;
  }
  [[nodiscard]] std::uint32_t level_of(std::uint32_t i) const {
    return static_cast<std::uint32_t>(transfers_.level_of(i));
  }
  static Happening when(FifoKind kind, std::uint32_t subject) {
    return {static_cast<std::uint32_t>(kind), subject};
  }

  std::uint32_t make_crossing(PathId path, std::uint32_t transfer, std::uint32_t hop) {
    if (vacant_.empty()) {
      vacant_.push_back(static_cast<std::uint32_t>(crossings_.size()));
      crossings_.emplace_back();
    }
    const std::uint32_t c = vacant_.back();
    vacant_.pop_back();
    crossings_[c] = {};
    crossings_[c].path = path;
    crossings_[c].transfer = transfer;
    crossings_[c].hop = hop;
    return c;
  }
  void vacate(std::uint32_t c) {
    crossings_[c].place = Place::vacant;
    vacant_.push_back(c);
  }
  void touch(std::uint32_t l) {
    if (std::exchange(links_[l].is_touched, true)) return;
    touched_.push_back(l);
  }

  // The way of a crossing.

  void line_up(std::uint32_t c) {
    Crossing& crossing = crossings_[c];
    const LinkId link = link_of(c);
    crossing.place = Place::queue;
    crossing.since = network_.now();
    links_[link.value].queue.push(
        {level_of(crossing.transfer), instant_, crossing.transfer, crossing.hop, c});
    touch(link.value);
  }
  void start(std::uint32_t l) {
    LinkState& link = links_[l];
    const std::uint32_t c = link.crossing = link.queue.pop().crossing;
    link.is_busy = link.is_crossed = true;
    Crossing& crossing = crossings_[c];
    crossing.place = Place::link;
    crossing.start = SimGridNetwork::clock();
    crossing.latency = link.latency;
    const Bytes size = transfers_.size_of(crossing.transfer);
    network_.cross(LinkId{l}, size, when(FifoKind::crossed, l));
    for (const std::uint32_t g : topology_.groups_of(LinkId{l})) {
      group_is_busy_[g] = true;
      network_.share(g, size, when(FifoKind::group_free, g));
    }
    LinkUse& use = report_.links[l];
    use.bytes += size;
    ++use.transfers;
    ++report_.link_transfers;
    if (is_last(c)) {
      if (!stores(topology_.link(LinkId{l}).to))
        network_.after(link.latency, when(FifoKind::head, c));
    } else if (link.cuts) {
      const std::uint32_t next = make_crossing(crossing.path, crossing.transfer, crossing.hop + 1);
      crossings_[next].is_tail_in = false;
      crossings_[c].next = next;
      network_.after(link.latency, when(FifoKind::queued, next));
    }
  }
  void has_crossed(std::uint32_t l) {
    LinkState& link = links_[l];
    if (!std::exchange(link.is_crossed, false)) return;
    const std::uint32_t c = link.crossing;
    Crossing& crossing = crossings_[c];
    crossing.place = Place::over;
    const bool for_latency_too = model_.link_busy == LinkBusy::latency_and_serialization;
    const Time longer = for_latency_too ? crossing.latency : Time{};
    link.busy += SimGridNetwork::clock() - crossing.start + longer.seconds();
    quiet_ = std::max(quiet_, network_.now() + longer);
    if (longer.ps > 0)
      network_.after(longer, when(FifoKind::link_free, l));
    else
      free(l);
    if (crossing.is_tail_in) end(c);
  }
  void free(std::uint32_t l) {
    links_[l].is_busy = false;
    if (!links_[l].queue.empty()) touch(l);
  }
  /// The tail of the link before is in.
  void follow(std::uint32_t c) {
    crossings_[c].is_tail_in = true;
    if (crossings_[c].place == Place::over) end(c);
  }
  /// The last byte has left for the end of the link.
  void end(std::uint32_t c) {
    record(c, SimGridNetwork::clock());
    if (crossings_[c].is_taken_back) return;
    const Crossing crossing = crossings_[c];
    quiet_ = std::max(quiet_, network_.now() + crossing.latency);
    if (is_last(c)) {
      crossings_[c].place = Place::ended;
      network_.after(crossing.latency, when(FifoKind::arrive, c));
    } else if (crossing.next != none) {
      vacate(c);
      network_.after(crossing.latency, when(FifoKind::tail, crossing.next));
    } else {
      crossings_[c] = {};
      crossings_[c].path = crossing.path;
      crossings_[c].transfer = crossing.transfer;
      crossings_[c].hop = crossing.hop + 1;
      network_.after(crossing.latency, when(FifoKind::queued, c));
    }
    if (crossing.hop == 0 && is_alive(sender(crossing.transfer)))
      transfers_.left(crossing.transfer, *this);
  }
  void record(std::uint32_t c, double end) {
    if (records_hops_)
      report_.hops.push_back(
          {crossings_[c].transfer, link_of(c), rounded(crossings_[c].start), rounded(end)});
  }

  // At the receiver.

  void arrive(std::uint32_t c) {
    const bool is_taken_back = crossings_[c].is_taken_back;
    const std::uint32_t i = crossings_[c].transfer;
    const NodeId node = receiver_of_crossing(c);
    vacate(c);
    if (is_taken_back) return;
    if (!is_alive(node)) {
      transfers_.lose(i);
      return;
    }
    if (!stores(node)) transfers_.tail_in(i, *this);
    if (!transfers_.keeps_waiting(i, network_.now().ps)) take_in(i);
  }
  void take_in(std::uint32_t i) {
    const NodeId node = receiver(i);
    if (transfers_.op_of(i) == Op::copy ||
        reduction_rate(topology_.node(node), model_).bytes_per_second == 0) {
      transfers_.arrived(i, *this);
      return;
    }
    units_[node.value].queue.push({level_of(i), instant_, i, 0, none});
    touched_units_.push_back(node);
  }
  void start_reductions() {
    for (const NodeId node : touched_units_) {
      Unit& unit = units_[node.value];
      if (unit.is_busy || unit.queue.empty()) continue;
      unit.is_busy = true;
      const std::uint32_t i = unit.queue.pop().transfer;
      const Bandwidth rate = reduction_rate(topology_.node(node), model_);
      network_.after(serialization(transfers_.size_of(i), rate), when(FifoKind::reduced, i));
    }
    touched_units_.clear();
  }
  void reduced(std::uint32_t i) {
    const NodeId node = receiver(i);
    if (!is_alive(node)) {
      transfers_.lose(i);
      return;
    }
    quiet_ = std::max(quiet_, network_.now());
    units_[node.value].is_busy = false;
    transfers_.arrived(i, *this);
    touched_units_.push_back(node);
  }

  const Topology& topology_;
  Transfers transfers_;
  const TimeModel model_;
  const bool records_hops_;
  NetworkState state_;
  SimGridNetwork& network_;
  Report report_; ///< so far
  std::uint64_t instant_ = 0;
  std::vector<LinkState> links_;
  std::vector<bool> group_is_busy_;
  std::vector<Unit> units_; // per node
  Time quiet_;              ///< when the last of what has set out is over
  std::vector<Crossing> crossings_;
  bool is_frozen_ = false;
  std::vector<std::uint32_t> frozen_; // transfers that would have entered
  std::vector<PathId> routes_;        // per path; empty where none ever changes

private:
  std::vector<std::uint32_t> vacant_, touched_;
  std::vector<NodeId> touched_units_;
  std::vector<std::pair<Turn, std::uint32_t>> candidates_;

protected:
  std::unordered_map<std::uint32_t, std::uint32_t> following_; // by transfer: its first crossing
};

} // namespace tutti
