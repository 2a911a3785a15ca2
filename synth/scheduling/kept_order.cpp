// Where a transfer would set out too early, it waits for a clock: of what its sender sends or
// receives, the last that happens before its planned start. Then all transfers over a link are
// chained, each waiting for the one before to have left, and replayed. By the times of this replay
// transfer i needs no link of a chain if without it it would enter the queue later than the one
// before it does, or both take the same path (at one instant the list decides, of which a program
// made from it knows nothing); where a link shares bandwidth or passes on what began elsewhere, so
// that the instant of entry decides more than the order on this link, if it would enter after that
// one has left. What remains is replayed the same.

#include "synth/scheduling/kept_order.hpp"

#include "sim/engines/engine.hpp"
#include "sim/sends.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// What matters of links, to transfers that set out over them.
struct FirstLinks {
  static constexpr std::uint32_t none = UINT32_MAX;
  std::vector<bool> begins_several; ///< paths that are used
  std::vector<bool> is_paced;       ///< paths of several links begin there, or it shares bandwidth
  std::vector<bool> sees_entry;     ///< it shares bandwidth, or transfers pass it on their way

  FirstLinks(const Topology& topology, const Schedule& schedule)
      : begins_several(topology.link_count()), is_paced(topology.link_count()),
        sees_entry(topology.link_count()) {
    const PathTable& paths = schedule.paths();
    std::vector<bool> is_used(paths.size());
    std::vector<std::uint32_t> path_of(topology.link_count(), none);
    for (std::size_t i = 0; i < schedule.size(); ++i) is_used[schedule.path_of(i).value] = true;
    for (std::uint32_t p = 0; p < paths.size(); ++p) {
      if (!is_used[p]) continue;
      const auto links = paths.links(PathId{p});
      const std::uint32_t first = links.front().value;
      if (topology.node(topology.link(links.front()).from).can.store) {
        begins_several[first] = begins_several[first] || path_of[first] != none;
        is_paced[first] = is_paced[first] || links.size() > 1;
        path_of[first] = p;
      }
      for (const LinkId link : links.subspan(1)) sees_entry[link.value] = true;
    }
    for (std::uint32_t l = 0; l < topology.link_count(); ++l)
      if (!topology.groups_of(LinkId{l}).empty()) {
        sees_entry[l] = true;
        is_paced[l] = topology.node(topology.link(LinkId{l}).from).can.store;
      }
  }
  [[nodiscard]] bool need_order() const {
    return std::ranges::find(begins_several, true) != begins_several.end();
  }
  [[nodiscard]] bool need_holding() const {
    return std::ranges::find(is_paced, true) != is_paced.end();
  }
};

/// What happens at one node by plan, in order of time.
class LocalClock {
public:
  struct Tick {
    Time at;
    Dependency event;
  };
  void add(Time at, Dependency event) { ticks_.push_back({at, event}); }
  void sort() {
    std::ranges::sort(ticks_, {}, [](const Tick& tick) {
      return std::tuple(tick.at, tick.event.transfer, tick.event.milestone);
    });
  }
  /// The last one up to `latest`, of transfers listed before `i`.
  [[nodiscard]] std::optional<Tick> last(Time latest, std::uint32_t i) const {
    auto tick = std::ranges::upper_bound(ticks_, latest, {}, &Tick::at);
    while (tick != ticks_.begin())
      if ((--tick)->event.transfer < i) return *tick;
    return std::nullopt;
  }

private:
  std::vector<Tick> ticks_;
};

class PlanKeeping {
  static constexpr std::uint32_t none = UINT32_MAX;

public:
  PlanKeeping(const Topology& topology, const Collective& collective, const Schedule& schedule,
              const TimeModel& model, const FirstLinks& links)
      : topology_(topology), collective_(collective), schedule_(schedule), model_(model),
        links_(links), before_(schedule.size(), none), waits_(schedule.size()) {
    std::vector<std::uint32_t> last(topology.link_count(), none);
    for (std::uint32_t i = 0; i < schedule.size(); i = send_end(i)) {
      const LinkId link = first_link(i);
      if (links.begins_several[link.value]) before_[i] = std::exchange(last[link.value], i);
    }
  }

  /// Lets transfers wait that would set out too early: on a link that is free then, entering then.
  void hold(const PlannedTimes& plan, Time tolerance) {
    const std::vector<LocalClock> clocks = clocks_of(plan);
    std::vector<Time> free(topology_.link_count());
    for (std::uint32_t i = 0; i < schedule_.size(); i = send_end(i)) {
      const LinkId link = first_link(i);
      if (!links_.is_paced[link.value]) continue;
      Time& start = free[link.value]; // then the transfer's
      if (start + tolerance < plan.starts[i])
        if (const auto tick = clocks[sender(i).value].last(plan.starts[i], i);
            tick && tick->at > start) {
          waits_[i] = tick->event;
          start = tick->at;
        }
      start +=
          serialization(send_size(collective_, schedule_, i), topology_.effective_bandwidth(link));
    }
  }

  /// With the dependencies on the one before, or those of them that are needed.
  [[nodiscard]] Schedule with_dependencies(const std::vector<bool>* needed = nullptr) const {
    Schedule made = schedule_;
    for (std::uint32_t i = 0; i < schedule_.size(); ++i) {
      if (before_[i] != none && (!needed || (*needed)[i]))
        made.add_dependency(i, {before_[i], Milestone::left});
      if (waits_[i]) made.add_dependency(i, *waits_[i]);
    }
    return made;
  }

  /// By the times of a replay of with_dependencies().
  [[nodiscard]] std::vector<bool> needed(const PlannedTimes& times) const {
    std::vector<bool> needed(schedule_.size());
    std::vector<Time> entered(schedule_.size()), path_entry(schedule_.paths().size());
    std::unordered_map<std::uint64_t, Time> arrived; // by chunk and node; never iterated
    for (std::uint32_t i = 0, end = 0; i < schedule_.size(); i = end) {
      end = send_end(i);
      const PathId path = schedule_.path_of(i);
      Time& entry = path_entry[path.value];
      for (std::uint32_t j = i; j < end; ++j)
        if (const auto data = arrived.find(key(j, sender(i))); data != arrived.end())
          entry = std::max(entry, data->second);
      if (waits_[i])
        entry = std::max(entry, waits_[i]->milestone == Milestone::left
                                    ? times.lefts[waits_[i]->transfer]
                                    : times.deliveries[waits_[i]->transfer]);
      if (const std::uint32_t before = before_[i]; before != none) {
        if (links_.sees_entry[first_link(i).value])
          needed[i] = entry < times.lefts[before];
        else
          needed[i] = path != schedule_.path_of(before) && entry <= entered[before];
        if (needed[i]) entry = std::max(entry, times.lefts[before]);
      }
      entered[i] = entry;
      for (std::uint32_t j = i; j < end; ++j) {
        Time& latest = arrived[key(j, receiver(i))];
        latest = std::max(latest, times.deliveries[j]);
      }
    }
    return needed;
  }

  KeptOrder kept(const WorkLimit& limit) const {
    const Report report =
        run_native(topology_, collective_, with_dependencies(), model_,
                   {.record_deliveries = true, .record_hops = true, .watch = limit.watch()});
    const std::vector<bool> some = needed(times_of(report));
    return {with_dependencies(&some), report.completion, true};
  }

private:
  [[nodiscard]] LinkId first_link(std::uint32_t i) const {
    return schedule_.paths().first(schedule_.path_of(i));
  }
  [[nodiscard]] NodeId sender(std::uint32_t i) const { return topology_.link(first_link(i)).from; }
  [[nodiscard]] NodeId receiver(std::uint32_t i) const {
    return topology_.link(schedule_.paths().last(schedule_.path_of(i))).to;
  }
  [[nodiscard]] std::uint64_t key(std::uint32_t i, NodeId node) const {
    return std::uint64_t{schedule_[i].chunk.value} << 32 | node.value;
  }
  [[nodiscard]] std::uint32_t send_end(std::uint32_t i) const {
    return static_cast<std::uint32_t>(schedule_.send_end(i));
  }

  [[nodiscard]] std::vector<LocalClock> clocks_of(const PlannedTimes& plan) const {
    std::vector<LocalClock> clocks(topology_.node_count());
    for (std::uint32_t i = 0; i < schedule_.size(); ++i) {
      clocks[sender(i).value].add(plan.lefts[i], {i, Milestone::left});
      clocks[receiver(i).value].add(plan.deliveries[i], {i, Milestone::arrived});
    }
    for (LocalClock& clock : clocks) clock.sort();
    return clocks;
  }

  /// The times of a replay that recorded deliveries and hops.
  [[nodiscard]] PlannedTimes times_of(const Report& report) const {
    PlannedTimes times{std::vector<Time>(schedule_.size()), std::vector<Time>(schedule_.size()),
                       report.deliveries};
    std::vector<bool> is_known(schedule_.size()); // a path may cross its first link again
    for (const HopRecord& hop : report.hops) {
      if (is_known[hop.transfer] || hop.link != first_link(hop.transfer)) continue;
      is_known[hop.transfer] = true;
      for (std::uint32_t i = hop.transfer; i < send_end(hop.transfer); ++i) {
        times.starts[i] = hop.start;
        times.lefts[i] = hop.end;
      }
    }
    return times;
  }

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  const TimeModel& model_;
  const FirstLinks& links_;
  std::vector<std::uint32_t> before_;            // per send: the one before on its first link
  std::vector<std::optional<Dependency>> waits_; // per transfer: the clock's
};

} // namespace

bool needs_kept_order(const Topology& topology, const Schedule& schedule) {
  return FirstLinks(topology, schedule).need_order();
}

KeptOrder with_kept_plan(const Topology& topology, const Collective& collective, Schedule schedule,
                         const TimeModel& model, const PlannedTimes* plan, Time tolerance,
                         const WorkLimit& limit) {
  schedule.clear_dependencies();
  const double left = limit.remaining_seconds();
  const Time plain =
      run_native(topology, collective, schedule, model, {.watch = limit.watch()}).completion;
  const double left_now = limit.remaining_seconds();
  // One more with what keeps the order, and one for whoever replays the answer.
  if (left_now < 2 * (left - left_now)) throw LimitReached();
  const FirstLinks links(topology, schedule);
  if (!links.need_order() && !(plan && links.need_holding()))
    return {std::move(schedule), plain, true};
  PlanKeeping keeping(topology, collective, schedule, model, links);
  if (plan) keeping.hold(*plan, tolerance);
  KeptOrder kept = keeping.kept(limit);
  if (plain <= kept.completion) kept = {std::move(schedule), plain, plain == kept.completion};
  return kept;
}

} // namespace tutti
