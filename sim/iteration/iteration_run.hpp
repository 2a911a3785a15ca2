// One run of a workload: the training programs above, an engine's network below. The engine calls
// this as things happen, and this tells the network what communication begins.
#pragma once

#include "sim/engines/event_queue.hpp"
#include "sim/error.hpp"
#include "sim/iteration.hpp"
#include "sim/iteration/placed_shapes.hpp"
#include "sim/iteration/plan_instances.hpp"
#include "sim/iteration/training_execution.hpp"
#include "sim/network_event.hpp"
#include "sim/topology.hpp"
#include "sim/workload.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

/// What happens above the network (Event::kind), beside what happens in it.
enum class RunEvent : std::uint32_t {
  computed = 1000, ///< subject: NPU
  folded,          ///< subject: slot of an instance; something of it is over
  started,         ///< subject: NPU that wasn't there from the beginning
  launched,        ///< subject: number of a launch, whose transfers may now begin
};

/// Levels of priority that occur: 0 is the highest.
class PriorityLevels {
public:
  explicit PriorityLevels(const Workload& workload) {
    for (const TrainingProgram& program : workload.programs)
      for (const Operation& operation : program.operations())
        if (operation.kind != Operation::Kind::compute) priorities_.insert(operation.priority);
  }
  [[nodiscard]] std::size_t count() const { return std::max<std::size_t>(1, priorities_.size()); }
  [[nodiscard]] std::size_t of(std::uint8_t priority) const {
    return static_cast<std::size_t>(std::distance(priorities_.begin(), priorities_.find(priority)));
  }

private:
  std::set<std::uint8_t, std::greater<>> priorities_;
};

/// Every communication is simulated.
class NoFolding {
public:
  bool take(std::uint32_t, std::int64_t, bool) { return false; }
  void finish(std::uint32_t) {}
  template <typename Instances> void advance(std::uint32_t, std::int64_t, Instances&) {}
  void change_begins(std::int64_t) {}
  void change_ends(std::int64_t) {}
  void add_to(IterationReport&) {}
};

/// `Network` carries PlanInstances, its transfers(): begin(), change(now) to what events make of
/// it, next_network_change(), handle(Event), serve(now), start_part(slot, now), start_member(slot,
/// member, now), report() at the end, blocked_text(). `Folding` decides which communication is
/// simulated. `Npus` are what computes: start_at(npu, time), launch_at(now, launch, time) and
/// compute(now, computation), after which RunEvent::started, ::launched or ::computed happens.
template <typename Network, typename Folding, typename Npus> class IterationRun {
public:
  /// Pre: the arguments are checked. Refers to them.
  IterationRun(const Workload& workload, const WorkloadPlans& plans, const PlacedShapes& shapes,
               const IterationOptions& options, Network& network, Folding& folding, Npus& npus)
      : workload_(workload), plans_(plans), shapes_(shapes), options_(options), network_(network),
        folding_(folding), npus_(npus), execution_(workload, options), levels_(workload),
        operations_(execution_.left()) {}

  /// Operations that are over, of all.
  [[nodiscard]] WorkProgress progress() const {
    return {operations_ - execution_.left(), operations_};
  }

  // What engines call.

  std::int64_t begin() {
    network_.begin();
    set_shares(0);
    for (std::uint32_t npu = 0; npu < workload_.places.size(); ++npu)
      if (const std::int64_t start = execution_.start_of(npu); start == 0)
        execution_.start(npu);
      else
        npus_.start_at(npu, start);
    return 0;
  }

  [[nodiscard]] std::int64_t next_change() const {
    return is_over() ? EventQueue::never : network_.next_network_change();
  }
  [[nodiscard]] bool is_over() const {
    return execution_.is_over() && network_.transfers().count() == 0;
  }
  void change(std::int64_t now) {
    folding_.change_begins(now);
    network_.change(now);
    folding_.change_ends(now);
    set_shares(now);
  }

  void handle(const Event& event) {
    switch (static_cast<RunEvent>(event.kind)) {
    case RunEvent::computed: execution_.computed(event.subject, event.at); break;
    case RunEvent::folded: folding_.advance(event.subject, event.at, instances()); break;
    case RunEvent::started: started_.push_back(event.subject); break;
    case RunEvent::launched:
      begun_.push_back(launching_[event.subject]);
      free_launches_.push_back(event.subject);
      break;
    default: network_.handle(event);
    }
  }

  void serve(std::int64_t now) {
    settle(now);
    network_.serve(now);
  }

  /// Errors: InputError where operations are left that can never happen.
  IterationReport finish() {
    if (!execution_.is_over()) throw InputError(halt_text());
    IterationReport report;
    report.model = options_.model;
    const Report& network = network_.report();
    report.links = network.links;
    report.link_transfers = report.replayed = network.link_transfers;
    folding_.add_to(report);
    execution_.finish(report);
    return report;
  }

private:
  /// Communication that begins at the present instant: in this order.
  struct Begun {
    std::uint32_t group = 0, tag = 0, communicator = 0, plan = 0, level = 0, number = 0;
    auto operator<=>(const Begun&) const = default;
  };

  static constexpr std::uint32_t none = UINT32_MAX;
  /// What a communicator instance has begun: its plan, and the slot of the plan's instance, if that
  /// has entered the network. `number` tells instances apart that have the same place one after
  /// the other: an instance none of whose members sends or receives anything leaves it at once.
  struct UnderWay {
    std::uint32_t plan = 0, slot = none, number = 0;
  };

  [[nodiscard]] auto& instances() { return network_.transfers(); }

  /// Everything that follows at this instant from what is over, until nothing does.
  void settle(std::int64_t now) {
    start_late(now);
    while (true) {
      take_news(now);
      execution_.advance(now);
      const std::vector<std::uint32_t> beginning = execution_.take_beginning();
      for (const std::uint32_t communicator : beginning) begin(communicator, now);
      const std::vector<TrainingExecution::Joining> joining = execution_.take_joining();
      for (const TrainingExecution::Joining& one : joining) join(one.communicator, one.rank, now);
      if (!beginning.empty() || !joining.empty()) continue;
      const TrainingExecution::Computations computations = execution_.compute(now);
      for (const TrainingExecution::Computation& computation : computations.begun)
        npus_.compute(now, computation);
      if (!computations.is_more) break;
    }
    std::sort(begun_.begin(), begun_.end());
    for (const Begun& instance : begun_) enter(instance, now);
    begun_.clear();
  }

  /// NPUs that weren't there from the beginning are there now.
  void start_late(std::int64_t now) {
    if (started_.empty()) return;
    std::sort(started_.begin(), started_.end());
    for (const std::uint32_t npu : std::exchange(started_, {})) {
      execution_.start(npu);
      const auto [first, last] = awaiting_start_.equal_range(npu);
      for (auto awaiting = first; awaiting != last; ++awaiting)
        network_.start_member(awaiting->second.slot, awaiting->second.member, now);
      awaiting_start_.erase(first, last);
    }
  }

  void take_news(std::int64_t now) {
    for (const InstanceMember& over : instances().members_over())
      end_member(over.slot, over.member, now);
    for (const std::uint32_t slot : instances().finished()) {
      folding_.finish(slot);
      instances().remove(slot);
    }
    instances().clear_news();
  }

  void end_member(std::uint32_t slot, std::uint32_t member, std::int64_t now) {
    const PlacedShape& placed = shapes_[instances().plan_of_slot(slot)];
    execution_.over(communicator_of_slot_[slot], placed.ranks[member], now);
  }

  void begin(std::uint32_t communicator, std::int64_t now) {
    execution_.begin(communicator, now);
    const std::uint32_t group = execution_.communicators()[communicator].group;
    if (workload_.groups[group].size() == 1) {
      execution_.over(communicator, 0, now);
      return;
    }
    const std::uint32_t plan = plan_of(execution_.request(communicator));
    if (under_way_.size() <= communicator) under_way_.resize(communicator + std::size_t{1});
    under_way_[communicator] = {plan, none, under_way_[communicator].number + 1};
    const PlanShape& shape = shapes_.shape_of(plan);
    if (const Time launch = shape.plan->launch; !shape.transfers.empty() && launch > Time{}) {
      require_representable(now, launch);
      npus_.launch_at(now, note_launch(begun(communicator)), now + launch.ps);
    } else if (!shape.transfers.empty()) {
      begun_.push_back(begun(communicator));
    }
    if (execution_.begins_one_by_one(communicator)) return;
    const std::vector<std::uint32_t>& ranks = shapes_[plan].ranks;
    for (std::size_t member = 0; member < ranks.size(); ++member)
      if (shape.transfers_of[member] == 0) execution_.over(communicator, ranks[member], now);
  }

  [[nodiscard]] Begun begun(std::uint32_t communicator) const {
    const auto& instance = execution_.communicators()[communicator];
    const UnderWay& here = under_way_[communicator];
    const std::size_t level = levels_.of(execution_.priority(communicator));
    return {
        instance.group, instance.tag, communicator, here.plan, static_cast<std::uint32_t>(level),
        here.number};
  }

  /// Returns its number.
  std::uint32_t note_launch(const Begun& begun) {
    if (free_launches_.empty()) {
      free_launches_.push_back(static_cast<std::uint32_t>(launching_.size()));
      launching_.emplace_back();
    }
    const std::uint32_t launch = free_launches_.back();
    free_launches_.pop_back();
    launching_[launch] = begun;
    return launch;
  }

  /// A member comes to what has begun, now or before.
  void join(std::uint32_t communicator, std::uint32_t rank, std::int64_t now) {
    execution_.join(communicator, rank, now);
    const UnderWay& here = under_way_[communicator];
    const std::vector<std::uint32_t>& ranks = shapes_[here.plan].ranks;
    const auto member =
        static_cast<std::uint32_t>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
    if (shapes_.shape_of(here.plan).transfers_of[member] == 0)
      execution_.over(communicator, rank, now);
    else if (here.slot != none)
      network_.start_member(here.slot, member, now);
  }

  void enter(const Begun& begun, std::int64_t now) {
    const std::uint32_t slot = instances().add(begun.plan, begun.level);
    if (communicator_of_slot_.size() <= slot) communicator_of_slot_.resize(slot + std::size_t{1});
    communicator_of_slot_[slot] = begun.communicator;
    UnderWay& here = under_way_[begun.communicator];
    const bool has_place = here.number == begun.number;
    if (has_place) here.slot = slot;
    std::vector<std::uint32_t> absent;
    const std::vector<std::uint32_t>& ranks = shapes_[begun.plan].ranks;
    for (std::uint32_t member = 0; member < ranks.size() && has_place; ++member)
      if (execution_.is_absent(begun.communicator, ranks[member], now)) absent.push_back(member);
    if (has_place && !execution_.begins_one_by_one(begun.communicator))
      await_starts(begun, slot, absent);
    if (folding_.take(slot, now, absent.empty())) return;
    instances().prepare(slot, absent);
    network_.start_part(slot, now);
  }

  /// Pre: the instance is entering, without these members, which haven't started.
  void await_starts(const Begun& begun, std::uint32_t slot,
                    std::span<const std::uint32_t> members) {
    const PlanShape& shape = shapes_.shape_of(begun.plan);
    for (const std::uint32_t member : members) {
      if (shape.transfers_of[member] == 0) continue; // it may be over before
      const std::uint32_t rank = shapes_[begun.plan].ranks[member];
      awaiting_start_.emplace(workload_.groups[begun.group][rank].value,
                              InstanceMember{slot, member});
    }
  }

  [[nodiscard]] std::uint32_t plan_of(const CommunicationRequest& request) const {
    const auto found = std::lower_bound(plans_.requests.begin(), plans_.requests.end(), request);
    return static_cast<std::uint32_t>(found - plans_.requests.begin());
  }

  /// Stragglers compute at their share, too.
  void set_shares(std::int64_t now) {
    for (; next_event_ < options_.events.size() && options_.events[next_event_].at.ps <= now;
         ++next_event_) {
      const NetworkEvent& event = options_.events[next_event_];
      if (event.kind == NetworkEvent::Kind::npu_rate)
        execution_.set_share(event.npu.value, event.share);
    }
  }

  [[nodiscard]] std::string halt_text() {
    std::string text = execution_.halt_text();
    const std::string blocked = network_.blocked_text();
    if (!blocked.empty()) text += "; communication under way waits for " + blocked;
    return text;
  }

  const Workload& workload_;
  const WorkloadPlans& plans_;
  const PlacedShapes& shapes_;
  const IterationOptions& options_;
  Network& network_;
  Folding& folding_;
  Npus& npus_;
  TrainingExecution execution_;
  PriorityLevels levels_;
  std::vector<std::uint32_t> communicator_of_slot_;
  std::vector<Begun> begun_;
  std::vector<Begun> launching_; // by number
  std::vector<std::uint32_t> free_launches_;
  std::vector<UnderWay> under_way_;    // by communicator instance
  std::vector<std::uint32_t> started_; // NPUs, at the present instant
  /// By NPU: members that instances have begun without, and that join them when it starts.
  std::multimap<std::uint32_t, InstanceMember> awaiting_start_;
  std::size_t next_event_ = 0;
  std::uint64_t operations_;
};

} // namespace tutti
