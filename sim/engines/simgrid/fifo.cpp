// The rules of FIFO, written from the specification; the network says how long things take.
//
// A transfer's crossing of a link is a record: on its way there, in the link's queue, on the link,
// over it. Nobody knows when it ends before it has ended, since rates may change meanwhile. Where
// its head goes ahead, the crossing of the next link therefore ends with the later of two events:
// its own bytes are over, and the tail before it is in.
#include "sim/engines/simgrid/fifo.hpp"

#include "sim/engines/simgrid/network.hpp"
#include "sim/engines/simgrid/prerequisites.hpp"
#include "sim/engines/simgrid/turns.hpp"
#include "sim/engines/stuck.hpp"
#include "sim/error.hpp"
#include "sim/network_event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti {

namespace {

class SimGridFifo : NetworkUser {
public:
  SimGridFifo(const Topology& topology, const Collective& collective, const Schedule& schedule,
              const TimeModel& model, const RunOptions& options)
      : topology_(topology), collective_(collective), schedule_(schedule), model_(model),
        options_(options), prerequisites_(topology, schedule), state_(topology),
        network_(topology, *this), links_(topology.link_count()),
        group_is_busy_(topology.groups().size()), units_(topology.node_count()),
        fate_(schedule.size(), Fate::under_way), quiet_(options.begin) {
    report_.model = model;
    report_.links.resize(topology.link_count());
    report_.chunk_done.resize(collective.chunks.size());
    if (options.record_deliveries) report_.deliveries.resize(schedule.size());
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      const Link& link = topology.link(LinkId{l});
      links_[l].latency = link.latency;
      links_[l].is_shared = !topology.groups_of(LinkId{l}).empty();
      links_[l].cuts = model.forwarding == Forwarding::cut_through ||
                       (model.forwarding == Forwarding::automatic && !stores(link.to));
    }
    for (std::uint32_t p = 0; p < schedule.paths().size(); ++p) routes_.push_back(PathId{p});
    find_parts();
    join_connections();
  }

  Report run() {
    network_.at(options_.begin, {begin, 0});
    plan_changes();
    plan_joins();
    network_.run();
    finish();
    return std::move(report_);
  }

private:
  static constexpr std::uint32_t none = UINT32_MAX;

  static Time rounded(double seconds) { return Time{std::llround(seconds * 1e12)}; }

  /// What happens, in the order in which it counts at one instant.
  enum Kind : std::uint32_t {
    begin,
    change,
    part,
    crossed,
    link_free,
    group_free,
    queued,
    head,
    tail,
    arrive,
    reduced,
    join,
  };
  enum class Place : std::uint8_t { way, queue, link, over, ended, vacant };
  enum class Fate : std::uint8_t { under_way, frozen, there, kept, lost, delivered };

  struct Crossing {
    PathId path;
    std::uint32_t transfer = 0, hop = 0;
    std::uint32_t next = none; ///< that of its head, where it has gone ahead
    Place place = Place::way;
    bool is_tail_in = true, is_taken_back = false;
    Time latency, since; ///< of the link when it starts; when it entered the queue
    double start = 0;    ///< s
  };
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
  /// A node that isn't there from the beginning, in one part or all.
  struct Join {
    NodeId node;
    std::uint32_t part = 0;
    bool is_over = false;
    std::vector<std::uint32_t> waiting; ///< transfers that have arrived there
  };

  // Parts and connections.

  [[nodiscard]] bool has_jobs() const { return !options_.jobs.empty(); }
  [[nodiscard]] std::uint32_t part_of(std::uint32_t i) const {
    return has_jobs() ? part_of_chunk_[schedule_[i].chunk.value] : 0;
  }
  [[nodiscard]] std::uint32_t level_of(std::uint32_t i) const {
    return has_jobs() ? JobTiming::highest_priority - options_.jobs[part_of(i)].priority : 0U;
  }
  void find_parts() {
    is_open_.resize(has_jobs() ? options_.jobs.size() : 1);
    if (!has_jobs()) return;
    part_of_chunk_.resize(collective_.chunks.size());
    for (std::uint32_t p = 0; p < collective_.parts.size(); ++p)
      std::fill_n(part_of_chunk_.begin() + collective_.parts[p].first.value,
                  collective_.parts[p].chunk_count, p);
  }
  void join_connections() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers; // by part and path
    std::vector<std::uint32_t> last;
    connection_.resize(schedule_.size());
    next_.assign(schedule_.size(), none);
    std::vector<std::uint32_t> number_of(has_jobs() ? 0 : schedule_.paths().size(), none);
    for (std::uint32_t i = 0; i < schedule_.size(); ++i) {
      const std::uint32_t path = schedule_.path_of(i).value;
      std::uint32_t& number = has_jobs()
                                  ? numbers.try_emplace({part_of(i), path}, none).first->second
                                  : number_of[path];
      if (number == none) {
        number = static_cast<std::uint32_t>(heads_.size());
        heads_.push_back(i);
        last.push_back(i);
      } else {
        next_[std::exchange(last[number], i)] = i;
      }
      connection_[i] = number;
    }
  }
  /// Transfer i may have become ready.
  void try_to_enter(std::uint32_t i) {
    std::uint32_t& first = heads_[connection_[i]];
    if (first != i || !is_open_[part_of(i)] || absent(i, sender(i)) != nullptr) return;
    while (first != none && prerequisites_.has_data(first) && !prerequisites_.awaits_named(first))
      enter(std::exchange(first, next_[first]));
  }
  template <typename Condition> void try_all(const Condition& condition) {
    for (std::uint32_t c = 0; c < heads_.size(); ++c)
      if (heads_[c] != none && condition(heads_[c])) try_to_enter(heads_[c]);
  }
  void enter(std::uint32_t i) {
    const NodeId from = sender(i);
    if (is_frozen_ && stores(from)) {
      fate_[i] = Fate::frozen;
      return;
    }
    const bool follows = !stores(from) && !prerequisites_.may_end(i);
    const std::uint32_t c = make_crossing(routes_[schedule_.path_of(i).value], i, 0);
    if (follows) {
      crossings_[c].is_tail_in = false;
      following_[i] = c;
    }
    line_up(c);
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

  // Late starts.

  void plan_joins() {
    if (options_.starts.empty()) return;
    const std::size_t parts = is_open_.size(), nodes = topology_.node_count();
    const auto start_of = [&](std::size_t p, NodeId v) {
      return options_.starts[v.value] + (has_jobs() ? options_.jobs[p].start : Time{});
    };
    join_of_.assign(parts * nodes, none);
    for (std::uint32_t p = 0; p < parts; ++p)
      for (std::uint32_t v = 0; v < nodes; ++v) {
        if (options_.starts[v].ps == 0 || start_of(p, NodeId{v}) <= options_.begin) continue;
        join_of_[p * nodes + v] = static_cast<std::uint32_t>(joins_.size());
        network_.at(start_of(p, NodeId{v}), {join, static_cast<std::uint32_t>(joins_.size())});
        joins_.push_back({NodeId{v}, p, false, {}});
      }
    for (std::uint32_t c = 0; c < collective_.chunks.size(); ++c)
      for (const auto members :
           {collective_.sources(ChunkId{c}), collective_.destinations(ChunkId{c})})
        for (const NodeId v : members)
          report_.completion =
              std::max(report_.completion, start_of(has_jobs() ? part_of_chunk_[c] : 0, v));
  }
  /// What the node waits for before it takes part in transfer i; null where it does.
  [[nodiscard]] Join* absent(std::uint32_t i, NodeId v) {
    if (join_of_.empty()) return nullptr;
    const std::uint32_t j = join_of_[std::size_t{part_of(i)} * topology_.node_count() + v.value];
    return j == none || joins_[j].is_over ? nullptr : &joins_[j];
  }
  void join_now(Join& late) {
    late.is_over = true;
    try_all([&](std::uint32_t i) { return part_of(i) == late.part && sender(i) == late.node; });
    for (const std::uint32_t i : std::exchange(late.waiting, {})) {
      if (is_frozen_) {
        fate_[i] = Fate::kept;
      } else if (!is_alive(late.node)) {
        fate_[i] = Fate::lost;
      } else {
        quiet_ = std::max(quiet_, network_.now());
        take_in(i);
      }
    }
  }

  // Changes of the network, of routes, of what may set out.

  void plan_changes() {
    const auto plan = [&](Time at) {
      if (at > options_.begin) network_.at(at, {change, 0});
    };
    for (const NetworkEvent& event : options_.events) plan(event.at);
    for (const RouteChange& route : options_.route_changes) plan(route.at);
    if (options_.freeze) plan(*options_.freeze);
    for (std::uint32_t p = 0; p < options_.jobs.size(); ++p)
      network_.at(std::max(options_.jobs[p].start, options_.begin), {part, p});
  }
  void make_changes() {
    const Time now = std::max(network_.now(), options_.begin);
    const std::size_t first_event = next_event_;
    for (; next_event_ < options_.events.size() && options_.events[next_event_].at <= now;
         ++next_event_)
      state_.apply(options_.events[next_event_]);
    for (std::size_t e = first_event; e < next_event_; ++e) apply(options_.events[e]);
    if (options_.freeze && !is_frozen_ && *options_.freeze <= now) freeze();
    const std::size_t before = next_route_;
    for (; next_route_ < options_.route_changes.size() &&
           options_.route_changes[next_route_].at <= now;
         ++next_route_)
      for (const auto& [path, other] : options_.route_changes[next_route_].paths)
        routes_[path.value] = other;
    if (next_route_ > before) take_back_blocked();
  }
  void apply(const NetworkEvent& event) {
    switch (event.kind) {
    case NetworkEvent::Kind::npu_down:
      for (const auto links : {topology_.in_links(event.npu), topology_.out_links(event.npu)})
        for (const LinkId link : links) refresh(link, event.at);
      units_[event.npu.value].queue.take_out([&](const Turn& turn) {
        fate_[turn.transfer] = Fate::lost;
        return true;
      });
      break;
    case NetworkEvent::Kind::npu_rate:
      for (const LinkId link : topology_.out_links(event.npu)) refresh(link, event.at);
      break;
    default: refresh(event.link, event.at);
    }
  }
  void refresh(LinkId id, Time at) {
    LinkState& link = links_[id.value];
    link.latency = state_.latency(id);
    const bool is_down = !state_.is_up(id);
    if (is_down && !link.is_down) {
      link.down_since = at;
      link.stopped = SimGridNetwork::clock();
      network_.turn_off(id);
    } else if (!is_down && link.is_down) {
      network_.turn_on(id);
      touch(id.value);
    }
    link.is_down = is_down;
    if (!is_down) network_.set_rate(id, state_.bandwidth(id));
  }
  [[nodiscard]] bool is_alive(NodeId node) const { return state_.is_up(node); }

  void freeze() {
    is_frozen_ = true;
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      if (!stores(topology_.link(LinkId{l}).from)) continue;
      links_[l].queue.take_out([&](const Turn& turn) {
        if (turn.hop > 0) return false;
        fate_[turn.transfer] = Fate::frozen;
        vacate(turn.crossing);
        return true;
      });
    }
  }

  /// What has entered over another route than it would take now, and has a link before it that is
  /// down, enters anew.
  void take_back_blocked() {
    std::map<std::uint32_t, std::uint32_t> first; // of each transfer's crossings, the rearmost
    for (std::uint32_t c = 0; c < crossings_.size(); ++c) {
      const Crossing& crossing = crossings_[c];
      if (crossing.place == Place::vacant || crossing.place == Place::ended ||
          crossing.is_taken_back ||
          crossing.path == routes_[schedule_.path_of(crossing.transfer).value])
        continue;
      const auto [place, is_new] = first.try_emplace(crossing.transfer, c);
      if (!is_new && crossing.hop < crossings_[place->second].hop) place->second = c;
    }
    std::map<std::uint32_t, std::uint32_t> blocked; // transfer: the hop that is down
    for (const auto& [i, c] : first) {
      const auto links = schedule_.paths().links(crossings_[c].path);
      for (std::uint32_t hop = crossings_[c].hop; hop < links.size(); ++hop)
        if (links_[links[hop].value].is_down) {
          blocked.emplace(i, hop);
          break;
        }
    }
    for (std::uint32_t c = 0; c < crossings_.size(); ++c) {
      const auto found = blocked.find(crossings_[c].transfer);
      if (found != blocked.end() && crossings_[c].place != Place::vacant &&
          !crossings_[c].is_taken_back)
        take_back(c, found->second);
    }
    for (const auto& [i, hop] : blocked) {
      following_.erase(i);
      enter(i);
    }
  }
  /// What is beyond the link that is down runs to its end for nothing; the rest stops.
  void take_back(std::uint32_t c, std::uint32_t blocked_at) {
    Crossing& crossing = crossings_[c];
    crossing.is_taken_back = crossing.is_tail_in = true;
    const LinkId id = link_of(c);
    LinkState& link = links_[id.value];
    if (crossing.place == Place::queue)
      link.queue.take_out([&](const Turn& turn) { return turn.crossing == c; });
    if (crossing.place != Place::link || crossing.hop > blocked_at) return;
    record(c, SimGridNetwork::clock());
    take_off(id, SimGridNetwork::clock());
    free(id.value);
  }
  /// What is on the link never gets over it; it was carried until `end`.
  void take_off(LinkId id, double end) {
    LinkState& link = links_[id.value];
    const double rest = network_.cancel(id);
    report_.links[id.value].bytes =
        report_.links[id.value].bytes - Bytes{static_cast<std::int64_t>(std::ceil(rest - 1e-6))};
    link.busy += end - crossings_[link.crossing].start;
    link.is_crossed = false;
  }
  void record(std::uint32_t c, double end) {
    if (options_.record_hops)
      report_.hops.push_back(
          {crossings_[c].transfer, link_of(c), rounded(crossings_[c].start), rounded(end)});
  }

  // What the network says.

  void begin_instant() override { ++instant_; }
  void happened(const Happening& happening) override {
    const std::uint32_t subject = happening.subject;
    switch (static_cast<Kind>(happening.kind)) {
    case begin:
      make_changes();
      prerequisites_.begin();
      if (!has_jobs()) {
        is_open_[0] = true;
        try_all([](std::uint32_t) { return true; });
      }
      break;
    case change: make_changes(); break;
    case part:
      is_open_[subject] = true;
      try_all([&](std::uint32_t i) { return part_of(i) == subject; });
      break;
    case crossed: has_crossed(subject); break;
    case link_free: free(subject); break;
    case group_free:
      group_is_busy_[subject] = false;
      for (const LinkId link : topology_.groups()[subject].links)
        if (!links_[link.value].queue.empty()) touch(link.value);
      break;
    case queued:
      if (!crossings_[subject].is_taken_back) line_up(subject);
      break;
    case head:
      if (!crossings_[subject].is_taken_back && is_alive(receiver_of_crossing(subject)))
        come_in(crossings_[subject].transfer);
      break;
    case tail:
      if (crossings_[subject].is_taken_back) break;
      crossings_[subject].is_tail_in = true;
      if (crossings_[subject].place == Place::over) end(subject);
      break;
    case arrive: arrive_now(subject); break;
    case reduced: reduced_now(subject); break;
    case join: join_now(joins_[subject]); break;
    }
  }

  void serve() override {
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
    const Bytes size = size_of(crossing.transfer);
    network_.cross(LinkId{l}, size, {crossed, l});
    for (const std::uint32_t g : topology_.groups_of(LinkId{l})) {
      group_is_busy_[g] = true;
      network_.share(g, size, {group_free, g});
    }
    LinkUse& use = report_.links[l];
    use.bytes += size;
    ++use.transfers;
    ++report_.link_transfers;
    if (is_last(c)) {
      if (!stores(topology_.link(LinkId{l}).to)) network_.after(link.latency, {head, c});
    } else if (link.cuts) {
      const std::uint32_t next = make_crossing(crossing.path, crossing.transfer, crossing.hop + 1);
      crossings_[next].is_tail_in = false;
      crossings_[c].next = next;
      network_.after(link.latency, {queued, next});
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
      network_.after(longer, {link_free, l});
    else
      free(l);
    if (crossing.is_tail_in) end(c);
  }
  void free(std::uint32_t l) {
    links_[l].is_busy = false;
    if (!links_[l].queue.empty()) touch(l);
  }
  /// The last byte has left for the end of the link.
  void end(std::uint32_t c) {
    record(c, SimGridNetwork::clock());
    if (crossings_[c].is_taken_back) return;
    const Crossing crossing = crossings_[c];
    quiet_ = std::max(quiet_, network_.now() + crossing.latency);
    if (is_last(c)) {
      crossings_[c].place = Place::ended;
      network_.after(crossing.latency, {arrive, c});
    } else if (crossing.next != none) {
      vacate(c);
      network_.after(crossing.latency, {tail, crossing.next});
    } else {
      crossings_[c] = {};
      crossings_[c].path = crossing.path;
      crossings_[c].transfer = crossing.transfer;
      crossings_[c].hop = crossing.hop + 1;
      network_.after(crossing.latency, {queued, c});
    }
    if (crossing.hop > 0 || !is_alive(sender(crossing.transfer))) return;
    prerequisites_.left(crossing.transfer, [&](std::uint32_t j) {
      if (fate_[j] == Fate::there) deliver(j);
    });
    reach(crossing.transfer, Milestone::left);
  }
  void arrive_now(std::uint32_t c) {
    if (crossings_[c].is_taken_back) return;
    const std::uint32_t i = crossings_[c].transfer;
    const NodeId node = receiver_of_crossing(c);
    vacate(c);
    if (!is_alive(node)) {
      fate_[i] = Fate::lost;
      return;
    }
    if (!stores(node)) prerequisites_.tail_in(i, [&](std::uint32_t j) { follow(j); });
    if (Join* const late = absent(i, node))
      late->waiting.push_back(i);
    else
      take_in(i);
  }
  /// All tails that transfer i follows are in.
  void follow(std::uint32_t i) {
    const auto found = following_.find(i);
    if (found == following_.end()) return;
    const std::uint32_t c = found->second;
    following_.erase(found);
    crossings_[c].is_tail_in = true;
    if (crossings_[c].place == Place::over) end(c);
  }

  // At the receiver.

  void take_in(std::uint32_t i) {
    const NodeId node = receiver(i);
    if (schedule_[i].op == Op::copy ||
        reduction_rate(topology_.node(node), model_).bytes_per_second == 0) {
      be_there(i);
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
      network_.after(serialization(size_of(i), reduction_rate(topology_.node(node), model_)),
                     {reduced, i});
    }
    touched_units_.clear();
  }
  void reduced_now(std::uint32_t i) {
    const NodeId node = receiver(i);
    if (!is_alive(node)) {
      fate_[i] = Fate::lost;
      return;
    }
    quiet_ = std::max(quiet_, network_.now());
    units_[node.value].is_busy = false;
    be_there(i);
    touched_units_.push_back(node);
  }
  void be_there(std::uint32_t i) {
    fate_[i] = Fate::there;
    if (prerequisites_.may_be_delivered(i)) deliver(i);
  }
  void deliver(std::uint32_t i) {
    fate_[i] = Fate::delivered;
    ++delivered_;
    const Time now = network_.now();
    Time& done = report_.chunk_done[schedule_[i].chunk.value];
    done = std::max(done, now);
    report_.completion = std::max(report_.completion, now);
    if (!report_.deliveries.empty()) report_.deliveries[i] = now;
    if (stores(receiver(i))) come_in(i);
    reach(i, Milestone::arrived);
  }
  void come_in(std::uint32_t i) {
    prerequisites_.in(i, [&](std::uint32_t j) { try_to_enter(j); });
  }
  void reach(std::uint32_t i, Milestone milestone) {
    prerequisites_.reached(i, milestone, [&](std::uint32_t j) { try_to_enter(j); });
  }

  // The end.

  void finish() {
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      LinkState& link = links_[l];
      if (link.is_crossed) {
        const std::uint32_t c = link.crossing;
        record(c, link.stopped);
        take_off(LinkId{l}, std::max(link.stopped, crossings_[c].start));
        link.is_crossed = true;
      }
      report_.links[l].busy = rounded(link.busy);
    }
    std::ranges::sort(report_.hops, [](const HopRecord& a, const HopRecord& b) {
      return std::tie(a.start, a.link, a.transfer) < std::tie(b.start, b.link, b.transfer);
    });
    if (options_.may_halt) report_.quiet = quiet_;
    if (delivered_ < schedule_.size()) note_stuck();
  }
  void note_stuck() {
    struct Standing {
      std::uint32_t hop = 0;
      LinkId link;
      Time since;
    };
    std::map<std::uint32_t, Standing> standing; // by transfer: the rearmost
    for (std::uint32_t c = 0; c < crossings_.size(); ++c) {
      const Crossing& crossing = crossings_[c];
      if (crossing.is_taken_back ||
          !(crossing.place == Place::queue || crossing.place == Place::link))
        continue;
      const Standing here{crossing.hop, link_of(c), crossing.since};
      const auto [place, is_new] = standing.try_emplace(crossing.transfer, here);
      if (!is_new && here.hop < place->second.hop) place->second = here;
    }
    using Why = StuckTransfer::Why;
    for (std::uint32_t i = 0; i < schedule_.size(); ++i) {
      if (fate_[i] == Fate::delivered) continue;
      StuckTransfer stuck{i};
      const auto place = standing.find(i);
      if (fate_[i] == Fate::lost)
        stuck.why = Why::lost;
      else if (fate_[i] == Fate::there || fate_[i] == Fate::kept)
        stuck.why = Why::held_back;
      else if (fate_[i] == Fate::frozen)
        stuck.why = Why::frozen;
      else if (place != standing.end())
        stuck = {i, Why::link_down, place->second.link, place->second.since};
      else if (const auto awaited = prerequisites_.first_awaited(schedule_, i)) {
        stuck.why = Why::named;
        stuck.awaited = *awaited;
      }
      report_.stuck.push_back(stuck);
    }
    if (!options_.may_halt) throw InputError(stuck_text());
  }
  [[nodiscard]] std::string stuck_text() const {
    constexpr std::size_t most_named = 5;
    std::string text = fmt::format("{} of {} transfers were never delivered:", report_.stuck.size(),
                                   schedule_.size());
    for (std::size_t k = 0; k < std::min(most_named, report_.stuck.size()); ++k) {
      const StuckTransfer& stuck = report_.stuck[k];
      const Time down_since = stuck.link.valid() ? links_[stuck.link.value].down_since : Time{};
      std::string why = stuck_reason(topology_, stuck, down_since);
      if (why.empty())
        why = fate_[stuck.transfer] == Fate::there      ? "waits for its receiver's sends"
              : prerequisites_.has_data(stuck.transfer) ? "is under way"
                                                        : "waits for data";
      text += fmt::format("{} transfer {} (chunk {}, {} > {}) {}", k > 0 ? ";" : "", stuck.transfer,
                          schedule_[stuck.transfer].chunk.value,
                          topology_.node(sender(stuck.transfer)).name,
                          topology_.node(receiver(stuck.transfer)).name, why);
    }
    return text;
  }

  [[nodiscard]] bool stores(NodeId node) const { return topology_.node(node).can.store; }
  [[nodiscard]] LinkId link_of(std::uint32_t c) const {
    return schedule_.paths().links(crossings_[c].path)[crossings_[c].hop];
  }
  [[nodiscard]] NodeId receiver_of_crossing(std::uint32_t c) const {
    return topology_.link(link_of(c)).to;
  }
  [[nodiscard]] bool is_last(std::uint32_t c) const {
    return crossings_[c].hop + 1 == schedule_.paths().links(crossings_[c].path).size();
  }
  [[nodiscard]] NodeId sender(std::uint32_t i) const {
    return topology_.link(schedule_.paths().first(schedule_.path_of(i))).from;
  }
  [[nodiscard]] NodeId receiver(std::uint32_t i) const {
    return topology_.link(schedule_.paths().last(schedule_.path_of(i))).to;
  }
  [[nodiscard]] Bytes size_of(std::uint32_t i) const {
    return collective_.chunks[schedule_[i].chunk.value].size;
  }

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  const TimeModel model_;
  const RunOptions options_;
  Prerequisites prerequisites_;
  NetworkState state_;
  SimGridNetwork network_;
  Report report_;
  std::uint64_t instant_ = 0, delivered_ = 0;
  std::vector<LinkState> links_;
  std::vector<bool> group_is_busy_;
  std::vector<Unit> units_; // per node
  std::vector<Fate> fate_;  // per transfer
  Time quiet_;
  std::vector<std::uint32_t> part_of_chunk_; // where parts are jobs
  std::vector<bool> is_open_;                // per part
  std::vector<std::uint32_t> connection_, next_, heads_;
  std::vector<Join> joins_;
  std::vector<std::uint32_t> join_of_; // by part and node; empty where all are there at once
  std::size_t next_event_ = 0, next_route_ = 0;
  bool is_frozen_ = false;
  std::vector<PathId> routes_; // per path
  std::vector<Crossing> crossings_;
  std::vector<std::uint32_t> vacant_, touched_;
  std::vector<NodeId> touched_units_;
  std::vector<std::pair<Turn, std::uint32_t>> candidates_;
  std::unordered_map<std::uint32_t, std::uint32_t> following_; // by transfer: its first crossing
};

} // namespace

Report replay_fifo_on_simgrid(const Topology& topology, const Collective& collective,
                              const Schedule& schedule, const TimeModel& model,
                              const RunOptions& options) {
  return SimGridFifo(topology, collective, schedule, model, options).run();
}

} // namespace tutti
