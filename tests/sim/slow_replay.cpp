// The recurrence of fifo_core.hpp read literally: state is asked of all transfers at every instant,
// and rounds of starts repeat until nothing starts.

#include "tests/sim/slow_replay.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

namespace tutti::testing {

namespace {

__extension__ typedef __int128 Wide;
using Instant = std::int64_t; // ps
using Maybe = std::optional<Instant>;
using Kind = NetworkEvent::Kind;

constexpr Wide ps_per_second = 1'000'000'000'000;
constexpr Instant forever = INT64_MAX;

Instant quotient_up(Wide dividend, Wide divisor) {
  return static_cast<Instant>((dividend + divisor - 1) / divisor);
}

/// One hop of one attempt to bring a transfer over.
struct Crossing {
  LinkId link;
  Maybe queued, started, sent, ended; // e_j is `ended`
  Instant latency = 0;                // as it was at the start
  Wide work = 0;                      // bytes * ps / s that are not across
  bool gone = false;                  // given up before its end
  Maybe stands_since;
};

struct Attempt {
  std::uint32_t transfer = 0;
  PathId path;
  std::vector<Crossing> hops;
  bool taken_back = false;
  bool has_arrived = false;
  bool waits = false; // it is there, and its receiver has not joined
};

struct LinkNow {
  bool down = false;
  std::int64_t share = 1'000'000;
  Instant latency = 0, free_at = 0;
  bool carries = false;
};

struct TransferNow {
  bool entered = false, frozen = false;
  bool left = false;           // its last byte has left its sender
  bool head_is_there = false;  // at an end that can't store
  bool arrived = false;        // and reduced, where that takes time
  bool tail_is_there = false;  // before that
  bool waits_for_unit = false; // in the reduction unit's queue
  Instant reached_at = 0;      // the unit
  bool lost = false;
  bool left_alone = false; // it waited for its receiver to join when the run was frozen
  Maybe delivered;
};

class SlowReplay {
public:
  SlowReplay(const Topology& topology, const Collective& collective, const Schedule& schedule,
             const TimeModel& model, const RunOptions& options)
      : topology_(topology), collective_(collective), schedule_(schedule), model_(model),
        options_(options), links_(topology.link_count()), dead_(topology.node_count()),
        npu_share_(topology.node_count(), 1'000'000), group_free_(topology.groups().size()),
        unit_(topology.node_count()), now_(schedule.size()), quiet_(options.begin.ps) {
    for (std::uint32_t l = 0; l < links_.size(); ++l)
      links_[l].latency = topology.link(LinkId{l}).latency.ps;
    for (std::uint32_t i = 0, block = 0, send = 0; i < schedule.size(); ++i) {
      block_.push_back(i > 0 && schedule[i].together ? block : block = i);
      first_.push_back(i > 0 && schedule[i].contiguous ? send : send = i);
    }
    for (std::size_t p = 0; p < collective.parts.size(); ++p)
      part_.insert(part_.end(), collective.parts[p].chunk_count, p);
    report_.links.resize(topology.link_count());
  }

  SlowReport run() {
    for (Instant t = options_.begin.ps; t != forever; t = advance(t)) {
      t_ = t;
      if (!all_delivered() || t == options_.begin.ps) changes();
      do {
        while (settle()) {
        }
      } while (start_round());
    }
    return finish();
  }

private:
  // What is what.

  /// What is sent at once.
  [[nodiscard]] std::int64_t size(std::uint32_t first) const {
    std::int64_t size = 0;
    for (std::uint32_t i = first; i < now_.size() && first_[i] == first; ++i)
      size += collective_.chunks[schedule_[i].chunk.value].size.count;
    return size;
  }
  /// What has become of the send that transfer i is in; only deliveries are each one's own.
  [[nodiscard]] const TransferNow& sent(std::uint32_t i) const { return now_[first_[i]]; }
  [[nodiscard]] NodeId from(std::uint32_t i) const {
    return topology_.link(schedule_.paths().first(schedule_.path_of(i))).from;
  }
  [[nodiscard]] NodeId to(std::uint32_t i) const {
    return topology_.link(schedule_.paths().last(schedule_.path_of(i))).to;
  }
  [[nodiscard]] bool stores(NodeId node) const { return topology_.node(node).can.store; }
  [[nodiscard]] std::size_t part(std::uint32_t i) const { return part_[schedule_[i].chunk.value]; }
  [[nodiscard]] int priority(std::uint32_t i) const {
    return options_.jobs.empty() ? 0 : options_.jobs[part(i)].priority;
  }
  [[nodiscard]] bool passes_head_on(LinkId link) const {
    const NodeId node = topology_.link(link).to;
    if (model_.forwarding == Forwarding::cut_through) return true;
    return model_.forwarding == Forwarding::automatic && !stores(node);
  }
  [[nodiscard]] Bandwidth unit_rate(std::uint32_t i) const {
    const Node& node = topology_.node(to(i));
    if (schedule_[i].op == Op::copy) return {};
    if (node.reduce_rate.bytes_per_second > 0 || node.kind != NodeKind::npu)
      return node.reduce_rate;
    return model_.reduce_rate;
  }
  [[nodiscard]] bool is_down(LinkId link) const {
    const Link& l = topology_.link(link);
    return links_[link.value].down || dead_[l.from.value] || dead_[l.to.value];
  }
  [[nodiscard]] std::int64_t rate(LinkId link) const {
    if (is_down(link)) return 0;
    const Link& l = topology_.link(link);
    const Wide own = Wide{l.bandwidth.bytes_per_second} * links_[link.value].share *
                     npu_share_[l.from.value] / 1'000'000 / 1'000'000;
    std::int64_t least = std::max<std::int64_t>(1, static_cast<std::int64_t>(own));
    for (const std::uint32_t g : topology_.groups_of(link))
      least = std::min(least, topology_.groups()[g].bandwidth.bytes_per_second);
    return least;
  }
  /// What transfers of a path enter over at present.
  [[nodiscard]] PathId route(PathId path) const {
    PathId present = path;
    for (const RouteChange& change : options_.route_changes)
      if (change.at.ps <= t_)
        for (const auto& [old, replacement] : change.paths)
          if (old == path) present = replacement;
    return present;
  }
  [[nodiscard]] bool is_frozen() const { return options_.freeze && options_.freeze->ps <= t_; }
  /// When this node joins the job that transfer i is of.
  [[nodiscard]] Instant joins_at(NodeId node, std::uint32_t i) const {
    return (options_.jobs.empty() ? 0 : options_.jobs[part(i)].start.ps) +
           (options_.starts.empty() ? 0 : options_.starts[node.value].ps);
  }
  [[nodiscard]] bool has_begun(std::uint32_t i) const { return joins_at(from(i), i) <= t_; }
  [[nodiscard]] bool all_delivered() const {
    return std::all_of(now_.begin(), now_.end(),
                       [](const TransferNow& now) { return now.delivered.has_value(); });
  }

  // Dependencies, straight from the list. In a block performed together sends come first.

  [[nodiscard]] bool is_arrival_before(std::uint32_t j, std::uint32_t i) const {
    return schedule_[j].chunk == schedule_[i].chunk && to(j) == from(i) && block_[j] < block_[i];
  }
  [[nodiscard]] bool has_come(const Dependency& named) const {
    return named.milestone == Milestone::left ? sent(named.transfer).left
                                              : now_[named.transfer].delivered.has_value();
  }
  [[nodiscard]] bool is_ready(std::uint32_t i) const {
    for (const Dependency& named : schedule_.dependencies(i))
      if (!has_come(named)) return false;
    for (std::uint32_t j = 0; j < now_.size(); ++j) {
      if (!is_arrival_before(j, i)) continue;
      if (stores(to(j)) ? !now_[j].delivered : !sent(j).head_is_there) return false;
    }
    return true;
  }
  /// Whether all are that are sent with it.
  [[nodiscard]] bool all_are_ready(std::uint32_t first) const {
    for (std::uint32_t i = first; i < now_.size() && first_[i] == first; ++i)
      if (!is_ready(i)) return false;
    return true;
  }
  [[nodiscard]] bool may_end(std::uint32_t first) const {
    for (std::uint32_t i = first; i < now_.size() && first_[i] == first; ++i)
      for (std::uint32_t j = 0; j < now_.size(); ++j)
        if (!stores(from(i)) && is_arrival_before(j, i) && !sent(j).tail_is_there) return false;
    return true;
  }
  [[nodiscard]] bool may_count(std::uint32_t i) const {
    for (std::uint32_t k = 0; k < now_.size(); ++k)
      if (schedule_[k].chunk == schedule_[i].chunk && from(k) == to(i) && block_[k] <= block_[i] &&
          k != i && !sent(k).left)
        return false;
    return true;
  }
  [[nodiscard]] bool is_its_turn(std::uint32_t i) const {
    for (std::uint32_t j = 0; j < i; ++j) {
      const bool same = schedule_.path_of(j) == schedule_.path_of(i) &&
                        (options_.jobs.empty() || part(j) == part(i));
      if (same && !sent(j).entered) return false;
    }
    return true;
  }

  // What happens at an instant.

  void changes() {
    for (; next_event_ < options_.events.size() && options_.events[next_event_].at.ps <= t_;
         ++next_event_) {
      const NetworkEvent& event = options_.events[next_event_];
      switch (event.kind) {
      case Kind::link_down: links_[event.link.value].down = true; break;
      case Kind::link_up: links_[event.link.value].down = false; break;
      case Kind::link_rate: links_[event.link.value].share = event.share.millionths; break;
      case Kind::link_latency: links_[event.link.value].latency = event.latency.ps; break;
      case Kind::npu_down: dead_[event.npu.value] = true; break;
      case Kind::npu_rate: npu_share_[event.npu.value] = event.share.millionths; break;
      }
    }
    for (std::uint32_t i = 0; i < now_.size(); ++i)
      if (now_[i].waits_for_unit && dead_[to(i).value]) {
        now_[i].waits_for_unit = false;
        now_[i].lost = true;
      }
    if (is_frozen()) freeze();
    bool reroutes = false;
    for (; next_route_ < options_.route_changes.size() &&
           options_.route_changes[next_route_].at.ps <= t_;
         ++next_route_)
      reroutes = true;
    if (reroutes) take_back();
  }

  void freeze() {
    for (Attempt& attempt : attempts_)
      if (!attempt.taken_back && attempt.hops[0].queued && !attempt.hops[0].started &&
          stores(from(attempt.transfer))) {
        attempt.taken_back = true;
        now_[attempt.transfer].frozen = true;
      }
  }

  void take_back() {
    std::vector<std::uint32_t> again;
    for (Attempt& attempt : attempts_) {
      if (attempt.taken_back || attempt.path == route(schedule_.path_of(attempt.transfer)))
        continue;
      std::size_t blocked = 0;
      while (blocked < attempt.hops.size() &&
             (attempt.hops[blocked].ended || !is_down(attempt.hops[blocked].link)))
        ++blocked;
      if (blocked == attempt.hops.size()) continue;
      attempt.taken_back = true;
      again.push_back(attempt.transfer);
      for (std::size_t j = 0; j <= blocked; ++j) give_up(attempt.hops[j]);
    }
    for (const std::uint32_t i : again) enter(i);
  }

  void give_up(Crossing& hop) {
    if (!hop.started || hop.sent) return;
    hop.gone = true;
    LinkUse& use = report_.links[hop.link.value];
    use.bytes = use.bytes - Bytes{hop.work > 0 ? quotient_up(hop.work, ps_per_second) : 0};
    use.busy += Time{t_ - *hop.started};
    links_[hop.link.value].carries = false;
    links_[hop.link.value].free_at = t_;
  }

  void enter(std::uint32_t i) {
    now_[i].entered = true;
    if (is_frozen() && stores(from(i))) {
      now_[i].frozen = true;
      return;
    }
    Attempt attempt{i, route(schedule_.path_of(i)), {}, false, false};
    for (const LinkId link : schedule_.paths().links(attempt.path))
      attempt.hops.push_back({link, {}, {}, {}, {}, 0, 0, false, {}});
    attempt.hops[0].queued = t_;
    attempts_.push_back(std::move(attempt));
  }

  /// Everything but starts, one thing after another. Whether something happened.
  bool settle() {
    bool more = false;
    for (Attempt& attempt : attempts_) more = settle(attempt) || more;
    for (std::uint32_t i = 0; i < now_.size(); ++i) more = settle(i) || more;
    return more;
  }

  bool settle(Attempt& attempt) {
    bool more = false;
    TransferNow& now = now_[attempt.transfer];
    for (std::size_t j = 0; j < attempt.hops.size(); ++j) {
      Crossing& hop = attempt.hops[j];
      if (hop.gone) continue;
      if (hop.started && !hop.sent && hop.work <= 0) {
        hop.sent = t_;
        LinkNow& link = links_[hop.link.value];
        link.carries = false;
        link.free_at = model_.link_busy == LinkBusy::serialization ? t_ : t_ + hop.latency;
        report_.links[hop.link.value].busy += Time{link.free_at - *hop.started};
        quiet_ = std::max(quiet_, link.free_at);
        more = true;
      }
      if (attempt.taken_back) continue;
      Crossing* const before = j > 0 ? &attempt.hops[j - 1] : nullptr;
      const bool tail = !before ? may_end(attempt.transfer)
                                : before->ended && *before->ended + before->latency <= t_;
      if (hop.sent && !hop.ended && tail) {
        hop.ended = t_;
        quiet_ = std::max(quiet_, t_ + hop.latency);
        if (j == 0 && !dead_[from(attempt.transfer).value]) now.left = true;
        more = true;
      }
      if (before && before->started && !hop.queued) {
        const Maybe leaves = passes_head_on(before->link) ? before->started : before->ended;
        if (leaves && *leaves + before->latency <= t_) {
          hop.queued = t_;
          more = true;
        }
      }
    }
    const Crossing& last = attempt.hops.back();
    if (attempt.taken_back) return more;
    const NodeId end = to(attempt.transfer);
    if (!stores(end) && last.started && *last.started + last.latency <= t_ && !dead_[end.value] &&
        !now.head_is_there)
      more = now.head_is_there = true;
    const Instant joins = joins_at(end, attempt.transfer);
    if (!last.ended || *last.ended + last.latency > t_ || attempt.has_arrived) return more;
    if (!attempt.waits && joins > t_ && !dead_[end.value]) more = attempt.waits = true;
    if (joins > t_) return more;
    more = attempt.has_arrived = true;
    if (attempt.waits && is_frozen()) {
      now.left_alone = true;
    } else {
      if (attempt.waits && !dead_[end.value]) quiet_ = std::max(quiet_, t_);
      reach(attempt.transfer);
    }
    return more;
  }

  void reach(std::uint32_t i) {
    TransferNow& now = now_[i];
    if (dead_[to(i).value]) {
      now.lost = true;
      return;
    }
    now.tail_is_there = true;
    if (unit_rate(i).bytes_per_second == 0) {
      now.arrived = true;
    } else {
      now.waits_for_unit = true;
      now.reached_at = t_;
    }
  }

  bool settle(std::uint32_t i) {
    bool more = false;
    TransferNow& now = now_[i];
    Unit& unit = unit_[to(i).value];
    if (unit.works_on == i && unit.until <= t_) {
      unit.works_on.reset();
      if (dead_[to(i).value]) {
        now.lost = true;
      } else {
        now.arrived = true;
        quiet_ = std::max(quiet_, t_);
      }
      more = true;
    }
    if (sent(i).arrived && !now.delivered && may_count(i)) {
      now.delivered = t_;
      more = true;
    }
    if (first_[i] == i && !now.entered && has_begun(i) && all_are_ready(i) && is_its_turn(i)) {
      enter(i);
      more = true;
    }
    return more;
  }

  /// One round of starts. Whether there was any.
  bool start_round() {
    bool any = start_reductions();
    std::vector<std::tuple<int, Instant, std::uint32_t, LinkId, Crossing*>> fronts;
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      if (is_down(LinkId{l}) || links_[l].carries || links_[l].free_at > t_) continue;
      std::vector<std::tuple<int, Instant, std::uint32_t, LinkId, Crossing*>> queue;
      for (Attempt& attempt : attempts_)
        for (Crossing& hop : attempt.hops)
          if (!attempt.taken_back && hop.link == LinkId{l} && hop.queued && !hop.started)
            queue.emplace_back(-priority(attempt.transfer), *hop.queued, attempt.transfer,
                               LinkId{l}, &hop);
      if (!queue.empty()) fronts.push_back(*std::min_element(queue.begin(), queue.end()));
    }
    std::sort(fronts.begin(), fronts.end());
    for (const auto& [order, since, transfer, link, hop] : fronts) {
      const auto groups = topology_.groups_of(link);
      if (std::any_of(groups.begin(), groups.end(),
                      [&](std::uint32_t g) { return group_free_[g] > t_; }))
        continue;
      start(*hop, transfer);
      any = true;
    }
    return any;
  }

  void start(Crossing& hop, std::uint32_t transfer) {
    hop.started = t_;
    hop.latency = links_[hop.link.value].latency;
    hop.work = Wide{size(transfer)} * ps_per_second;
    links_[hop.link.value].carries = true;
    for (const std::uint32_t g : topology_.groups_of(hop.link))
      group_free_[g] = t_ + quotient_up(hop.work, topology_.groups()[g].bandwidth.bytes_per_second);
    report_.links[hop.link.value].bytes += Bytes{size(transfer)};
    ++report_.links[hop.link.value].transfers;
  }

  bool start_reductions() {
    bool any = false;
    for (std::uint32_t n = 0; n < unit_.size(); ++n) {
      if (unit_[n].works_on) continue;
      std::vector<std::tuple<int, Instant, std::uint32_t>> queue;
      for (std::uint32_t i = 0; i < now_.size(); ++i)
        if (now_[i].waits_for_unit && to(i) == NodeId{n})
          queue.emplace_back(-priority(i), now_[i].reached_at, i);
      if (queue.empty()) continue;
      const std::uint32_t i = std::get<2>(*std::min_element(queue.begin(), queue.end()));
      now_[i].waits_for_unit = false;
      unit_[n] = {i,
                  t_ + quotient_up(Wide{size(i)} * ps_per_second, unit_rate(i).bytes_per_second)};
      any = true;
    }
    return any;
  }

  /// The next instant at which something may happen; carries data until then.
  Instant advance(Instant t) {
    Instant next = forever;
    const auto maybe = [&](Instant at) {
      if (at > t) next = std::min(next, at);
    };
    for (const Attempt& attempt : attempts_)
      for (const Crossing& hop : attempt.hops) {
        if (hop.started) maybe(*hop.started + hop.latency);
        if (hop.ended) maybe(*hop.ended + hop.latency);
        if (hop.started && !hop.sent && !hop.gone && rate(hop.link) > 0)
          maybe(t + quotient_up(hop.work, rate(hop.link)));
      }
    for (const LinkNow& link : links_) maybe(link.free_at);
    for (const Instant free_at : group_free_) maybe(free_at);
    for (const Unit& unit : unit_)
      if (unit.works_on) maybe(unit.until);
    if (!all_delivered()) {
      for (const NetworkEvent& event : options_.events) maybe(event.at.ps);
      for (const RouteChange& change : options_.route_changes) maybe(change.at.ps);
      for (std::uint32_t i = 0; i < now_.size(); ++i)
        for (const NodeId node : {from(i), to(i)}) maybe(joins_at(node, i));
      if (options_.freeze) maybe(options_.freeze->ps);
    }
    if (next == forever) return next;
    for (Attempt& attempt : attempts_)
      for (Crossing& hop : attempt.hops) {
        if (!hop.started || hop.sent || hop.gone) continue;
        if (rate(hop.link) == 0) {
          if (!hop.stands_since) hop.stands_since = t;
        } else {
          hop.stands_since.reset();
          hop.work -= Wide{rate(hop.link)} * (next - t);
        }
      }
    return next;
  }

  // What is left in the end.

  SlowReport finish() {
    for (Attempt& attempt : attempts_)
      for (Crossing& hop : attempt.hops) {
        if (!hop.started || hop.sent || hop.gone) continue;
        const Instant since = hop.stands_since.value_or(t_);
        LinkUse& use = report_.links[hop.link.value];
        use.busy += Time{since - *hop.started};
        use.bytes = use.bytes - Bytes{quotient_up(hop.work, ps_per_second)};
      }
    for (std::uint32_t i = 0; i < now_.size(); ++i) {
      report_.deliveries.push_back(now_[i].delivered ? std::optional(Time{*now_[i].delivered})
                                                     : std::nullopt);
      if (!now_[i].delivered) report_.stuck.push_back(why(i));
    }
    report_.quiet = Time{quiet_};
    for (const auto& delivery : report_.deliveries)
      report_.completion = std::max(report_.completion, delivery.value_or(Time{}));
    for (std::uint32_t c = 0; c < collective_.chunks.size() && !options_.starts.empty(); ++c)
      for (const auto& nodes :
           {collective_.sources(ChunkId{c}), collective_.destinations(ChunkId{c})})
        for (const NodeId node : nodes)
          report_.completion = std::max(
              report_.completion, (options_.jobs.empty() ? Time{} : options_.jobs[part_[c]].start) +
                                      options_.starts[node.value]);
    return std::move(report_);
  }

  [[nodiscard]] StuckTransfer why(std::uint32_t i) const {
    StuckTransfer stuck{i, StuckTransfer::Why::waiting, {}, {}};
    const TransferNow& now = sent(i);
    if (now.lost) {
      stuck.why = StuckTransfer::Why::lost;
    } else if (now.arrived || now.left_alone) {
      stuck.why = StuckTransfer::Why::held_back;
    } else if (now.frozen) {
      stuck.why = StuckTransfer::Why::frozen;
    } else {
      for (const Attempt& attempt : attempts_) {
        if (attempt.transfer != first_[i] || attempt.taken_back) continue;
        for (const Crossing& hop : attempt.hops)
          if (hop.queued && !hop.sent && stuck.why == StuckTransfer::Why::waiting)
            stuck = {i, StuckTransfer::Why::link_down, hop.link, Time{*hop.queued}};
      }
      for (const Dependency& named : schedule_.dependencies(i))
        if (stuck.why == StuckTransfer::Why::waiting && !has_come(named)) {
          stuck.why = StuckTransfer::Why::named;
          stuck.awaited = named.transfer;
        }
    }
    return stuck;
  }

  struct Unit {
    std::optional<std::uint32_t> works_on;
    Instant until = 0;
  };

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  const TimeModel model_;
  const RunOptions options_;
  std::vector<LinkNow> links_;
  std::vector<bool> dead_;
  std::vector<std::int64_t> npu_share_;
  std::vector<Instant> group_free_;
  std::vector<Unit> unit_;
  std::vector<TransferNow> now_;
  std::vector<std::uint32_t> block_; // per transfer: the first of its block
  std::vector<std::uint32_t> first_; // per transfer: the first of its send
  std::vector<std::size_t> part_;    // per chunk
  std::vector<Attempt> attempts_;
  std::size_t next_event_ = 0, next_route_ = 0;
  Instant t_ = 0, quiet_ = 0;
  SlowReport report_;
};

} // namespace

SlowReport slow_replay(const Topology& topology, const Collective& collective,
                       const Schedule& schedule, const TimeModel& model,
                       const RunOptions& options) {
  return SlowReplay(topology, collective, schedule, model, options).run();
}

} // namespace tutti::testing
