// Workloads on Tutti's own event queue, folded or not.
//
// Folding: an instance that has its links, shared groups and reduction units to itself takes its
// times from LoneReplays. As soon as another instance needs one of them it is unfolded: what it has
// done by then happens once more, apart from everything else, and from then on it is simulated with
// the others. So folding changes nothing but the work.

#include "sim/engines/event_queue.hpp"
#include "sim/engines/run_to_end.hpp"
#include "sim/iteration.hpp"
#include "sim/iteration/checks.hpp"
#include "sim/iteration/iteration_run.hpp"
#include "sim/iteration/lone_replays.hpp"
#include "sim/iteration/placed_shapes.hpp"
#include "sim/iteration/plan_instances.hpp"
#include "sim/iteration/training_execution.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// What instances of plans need for themselves: links, shared groups, reduction units. What a plan
/// needs is found at its first use and kept, since thousands of instances share a plan.
class Resources {
public:
  static constexpr std::uint32_t none = UINT32_MAX;

  Resources(const Topology& topology, const TimeModel& model, const PlacedShapes& shapes);

  /// Links, then groups, then reduction units; ascending. O(routes) the first time.
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t plan);

  /// An instance of the plan begins, and ends.
  void take(std::uint32_t plan) {
    for (const std::uint32_t resource : of(plan)) ++users_[resource];
  }
  void release(std::uint32_t plan) {
    for (const std::uint32_t resource : of(plan)) --users_[resource];
  }
  [[nodiscard]] bool are_free(std::uint32_t plan) {
    for (const std::uint32_t resource : of(plan))
      if (users_[resource] > 0) return false;
    return true;
  }

  /// Who has a resource alone, if that was noted; `none`.
  [[nodiscard]] std::uint32_t owner(std::uint32_t resource) const { return owner_[resource]; }
  void set_owner(std::uint32_t plan, std::uint32_t owner) {
    for (const std::uint32_t resource : of(plan)) owner_[resource] = owner;
  }

private:
  [[nodiscard]] std::vector<std::uint32_t> find(std::uint32_t plan) const;

  const Topology& topology_;
  const TimeModel& model_;
  const PlacedShapes& shapes_;
  std::vector<std::vector<std::uint32_t>> of_plan_; // empty until asked for
  std::vector<std::uint32_t> users_, owner_;        // per resource
};

Resources::Resources(const Topology& topology, const TimeModel& model, const PlacedShapes& shapes)
    : topology_(topology), model_(model), shapes_(shapes), of_plan_(shapes.size()),
      users_(topology.link_count() + topology.groups().size() + topology.node_count()),
      owner_(users_.size(), none) {}

std::span<const std::uint32_t> Resources::of(std::uint32_t plan) {
  if (of_plan_[plan].empty()) of_plan_[plan] = find(plan);
  return of_plan_[plan];
}

std::vector<std::uint32_t> Resources::find(std::uint32_t plan) const {
  const std::uint32_t first_group = topology_.link_count();
  const auto first_unit = first_group + static_cast<std::uint32_t>(topology_.groups().size());
  std::vector<std::uint32_t> found;
  for (const LinkId link : shapes_[plan].links) {
    found.push_back(link.value);
    for (const std::uint32_t group : topology_.groups_of(link))
      found.push_back(first_group + group);
  }
  std::vector<bool> seen(shapes_.shape_of(plan).routes.size());
  for (const PlanShape::Movement& transfer : shapes_.shape_of(plan).transfers) {
    if (transfer.reduces == 0 || seen[transfer.route]) continue;
    seen[transfer.route] = true;
    const LinkId last = shapes_.paths().last(shapes_[plan].paths[transfer.route]);
    const NodeId receiver = topology_.link(last).to;
    if (reduction_rate(topology_.node(receiver), model_).bytes_per_second > 0)
      found.push_back(first_unit + receiver.value);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

class NativeFolding {
public:
  NativeFolding(const PlacedShapes& shapes, std::span<const Dependencies> waiting,
                NativeNetwork& core, EventQueue& events, const IterationOptions& options)
      : shapes_(shapes), waiting_(waiting), core_(core), events_(events), options_(options),
        resources_(core.topology(), options.model, shapes), times_folded_(shapes.size()),
        link_use_(core.topology().link_count()) {
    renew(0);
  }

  /// An instance begins. Unfolds those that it meets; returns whether it is folded, which it is
  /// only if `all_are_there`, its members.
  bool take(std::uint32_t slot, std::int64_t now, bool all_are_there) {
    const std::uint32_t plan = core_.transfers().plan_of_slot(slot);
    if (folded_.size() <= slot) folded_.resize(slot + std::size_t{1});
    Folded& instance = folded_[slot];
    instance = {};
    const bool is_alone = resources_.are_free(plan);
    if (!is_alone)
      for (const std::uint32_t resource : resources_.of(plan))
        if (resources_.owner(resource) != Resources::none)
          unfold(resources_.owner(resource), now, Until::present);
    resources_.take(plan);
    if (!is_alone || !all_are_there) return false;
    const LoneReplay& replay = replays_->of(plan);
    if (replay.halts) return false;
    resources_.set_owner(plan, slot);
    instance.replay = &replay;
    instance.begin = now;
    await(slot, now);
    return true;
  }

  /// Everything of the instance is delivered.
  void finish(std::uint32_t slot) {
    const std::uint32_t plan = core_.transfers().plan_of_slot(slot);
    resources_.release(plan);
    if (!folded_[slot].replay) return;
    folded_[slot] = {};
    resources_.set_owner(plan, Resources::none);
    ++times_folded_[plan];
  }

  /// Something of a folded instance is over now.
  void advance(std::uint32_t slot, std::int64_t now, PlanInstances<Dependencies>& instances) {
    Folded& instance = folded_[slot];
    if (!instance.replay || instance.due != now) return; // it was unfolded
    const LoneReplay& replay = *instance.replay;
    const std::int64_t after = now - instance.begin;
    for (; instance.next < replay.over.size() && replay.over[instance.next].after == after;
         ++instance.next)
      instances.tell_over(slot, replay.over[instance.next].member);
    if (replay.finished == after) {
      instance.due = EventQueue::never;
      instances.tell_finished(slot);
    } else {
      await(slot, now);
    }
  }

  /// The network changes now, before everything else at this instant.
  void change_begins(std::int64_t now) {
    for (std::uint32_t slot = 0; slot < folded_.size(); ++slot)
      if (folded_[slot].replay) unfold(slot, now, Until::before);
    add_up();
  }
  void change_ends(std::int64_t now) { renew(now); }

  void add_to(IterationReport& report) {
    add_up();
    for (std::size_t l = 0; l < link_use_.size(); ++l) {
      LinkUse& use = report.links[l];
      use.bytes += link_use_[l].bytes;
      use.busy += link_use_[l].busy;
      use.transfers += link_use_[l].transfers;
    }
    report.link_transfers += crossings_;
    report.replayed += replayed_ + replays_->replayed();
  }

private:
  struct Folded {
    const LoneReplay* replay = nullptr; ///< null: it isn't folded
    std::int64_t begin = 0, due = 0;    ///< ps; due: when advance() is called
    std::size_t next = 0;               ///< index into LoneReplay::over
  };
  /// How far what happens at the present instant happens apart: not at all, or all but what starts.
  enum class Until : std::uint8_t { before, present };

  void await(std::uint32_t slot, std::int64_t now) {
    Folded& instance = folded_[slot];
    const LoneReplay& replay = *instance.replay;
    const std::int64_t after =
        instance.next < replay.over.size() ? replay.over[instance.next].after : replay.finished;
    instance.due = instance.begin + after;
    require_representable(instance.due, Time{});
    events_.push(now, {instance.due, slot, static_cast<std::uint32_t>(RunEvent::folded)});
  }

  void unfold(std::uint32_t slot, std::int64_t now, Until until) {
    const std::int64_t begin = folded_[slot].begin;
    folded_[slot] = {};
    resources_.set_owner(core_.transfers().plan_of_slot(slot), Resources::none);
    core_.transfers().prepare(slot);
    EventQueue own;
    std::swap(own, events_);
    core_.apart([&] { replay(slot, begin, now, until); });
    std::swap(own, events_);
    while (own.next_time() != EventQueue::never) events_.push(now, own.pop());
    core_.transfers().clear_news(); // it was reported when it was due
  }

  /// What the instance has done by now. Pre: nothing else is in the event queue.
  void replay(std::uint32_t slot, std::int64_t begin, std::int64_t now, Until until) {
    core_.start_part(slot, begin);
    if (begin == now) return;
    core_.serve(begin);
    while (events_.next_time() < now) {
      const std::int64_t at = events_.next_time();
      while (events_.next_time() == at) core_.handle(events_.pop());
      core_.serve(at);
    }
    if (until == Until::before) return;
    while (events_.next_time() == now) core_.handle(events_.pop());
  }

  /// What was folded is counted, as the network is about to change or the run is over.
  void add_up() {
    for (std::uint32_t plan = 0; plan < times_folded_.size(); ++plan) {
      const std::uint64_t times = std::exchange(times_folded_[plan], 0);
      if (times == 0) continue;
      const LoneReplay& replay = replays_->of(plan);
      const auto factor = static_cast<std::int64_t>(times);
      for (std::size_t i = 0; i < replay.link_use.size(); ++i) {
        LinkUse& use = link_use_[shapes_[plan].links[i].value];
        use.bytes += Bytes{factor * replay.link_use[i].bytes.count};
        use.busy += Time{factor * replay.link_use[i].busy.ps};
        use.transfers += times * replay.link_use[i].transfers;
      }
      crossings_ += times * replay.crossings;
    }
  }

  /// Replays are of the network as it is from now on.
  void renew(std::int64_t now) {
    if (replays_) replayed_ += replays_->replayed();
    RunOptions network;
    network.events = options_.events;
    network.begin = Time{now};
    network.watch = options_.watch;
    replays_.emplace(core_.topology(), shapes_, waiting_, options_.model, network);
  }

  const PlacedShapes& shapes_;
  std::span<const Dependencies> waiting_; // per shape
  NativeNetwork& core_;
  EventQueue& events_;
  const IterationOptions& options_;
  Resources resources_;
  std::optional<LoneReplays> replays_;
  std::vector<Folded> folded_;              // by slot
  std::vector<std::uint64_t> times_folded_; // per plan, since the network last changed
  std::vector<LinkUse> link_use_;           // of what was folded, per link
  std::uint64_t crossings_ = 0, replayed_ = 0;
};

/// What takes how long is known when it begins.
struct NativeNpus {
  EventQueue& events;
  void start_at(std::uint32_t npu, std::int64_t start) const {
    events.push(0, {start, npu, static_cast<std::uint32_t>(RunEvent::started)});
  }
  void launch_at(std::int64_t now, std::uint32_t launch, std::int64_t at) const {
    events.push(now, {at, launch, static_cast<std::uint32_t>(RunEvent::launched)});
  }
  void compute(std::int64_t now, const TrainingExecution::Computation& computation) const {
    events.push(now,
                {computation.end, computation.npu, static_cast<std::uint32_t>(RunEvent::computed)});
  }
};

/// Everything that a run refers to.
struct Parts {
  Parts(const Topology& topology, const Workload& workload, const WorkloadPlans& plans,
        const IterationOptions& options)
      : shapes(topology, workload, plans, options), waiting(waiting_of<Dependencies>(shapes)),
        network(topology,
                PlanInstances<Dependencies>(shapes, waiting, PriorityLevels(workload).count()),
                options.model, network_options(options), events) {}

  static RunOptions network_options(const IterationOptions& options) {
    RunOptions network;
    network.events = options.events;
    network.watch = options.watch;
    return network;
  }

  PlacedShapes shapes;
  std::vector<Dependencies> waiting;
  EventQueue events;
  NativeNetwork network;
  NativeNpus npus{events};
};

template <typename Folding>
IterationReport run(Parts& parts, Folding folding, const Workload& workload,
                    const WorkloadPlans& plans, const IterationOptions& options) {
  IterationRun iteration(workload, plans, parts.shapes, options, parts.network, folding,
                         parts.npus);
  run_to_end(iteration, parts.events, options.watch);
  IterationReport report = iteration.finish();
  report.engine = "native";
  return report;
}

} // namespace

IterationReport run_iteration_native(const Topology& topology, const Workload& workload,
                                     const WorkloadPlans& plans, const IterationOptions& options) {
  check_iteration(topology, workload, plans, options);
  Parts parts(topology, workload, plans, options);
  if (!options.fold) return run(parts, NoFolding(), workload, plans, options);
  return run(parts,
             NativeFolding(parts.shapes, parts.waiting, parts.network, parts.events, options),
             workload, plans, options);
}

} // namespace tutti
