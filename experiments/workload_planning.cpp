#include "experiments/workload_planning.hpp"

#include "experiments/collective_planning.hpp"
#include "experiments/collective_request.hpp"
#include "experiments/group_network.hpp"
#include "experiments/group_sites.hpp"
#include "experiments/placed_plan.hpp"
#include "experiments/send_planning.hpp"
#include "sim/bounds.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "sim/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace tutti {

namespace {

/// What has to be planned once.
struct Task {
  std::size_t site = 0;
  bool is_send = false;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t root = 0;
  Bytes size;
  auto operator<=>(const Task&) const = default;
};

std::string task_text(const Task& task, std::span<const NodeId> group) {
  std::vector<std::uint32_t> npus;
  for (const NodeId member : group) npus.push_back(member.value);
  std::sort(npus.begin(), npus.end());
  return fmt::format("{} {} among NPUs {}", to_text(task.kind), to_text(task.size),
                     ranges_text(npus));
}

/// What a site's nodes or links are at a group's place. Empty: all of them, in their order; of the
/// place, all where they are.
template <typename IdType>
std::vector<IdType> carried(std::span<const IdType> of_site, std::span<const IdType> place) {
  if (of_site.empty()) return {place.begin(), place.end()};
  std::vector<IdType> ids(of_site.begin(), of_site.end());
  if (!place.empty())
    for (IdType& id : ids) id = place[id.value];
  return ids;
}

class Planner {
public:
  Planner(const Topology& topology, const Workload& workload, const PlanningOptions& options)
      : topology_(topology), workload_(workload), model_(options.options.model),
        collectives_(options), sites_(topology, collectives_.goes_by_names()),
        send_router_(topology, options.options.routing), parts_(workload.groups.size()),
        places_(workload.groups.size()) {}

  WorkloadPlanning plan() {
    result_.plans.requests = requests_of(workload_);
    for (const CommunicationRequest& request : result_.plans.requests)
      result_.plans.plans.push_back(planned(request));
    for (const auto& [task, planned] : planned_) result_.communications.push_back(planned.summary);
    std::ranges::stable_sort(result_.communications, std::greater{}, &PlannedCommunication::size);
    add_problem(collectives_.problem());
    result_.synthesis_seconds = collectives_.synthesis_seconds();
    result_.warning = collectives_.warning();
    return std::move(result_);
  }

private:
  struct Planned {
    PlacedPlan placed; ///< on the site's network; nodes and links empty: on all of it
    PlannedCommunication summary;
  };

  PlacedPlan planned(const CommunicationRequest& request) {
    const std::vector<NodeId>& group = workload_.groups[request.group];
    const bool is_send = request.kind == CollectiveKind::broadcast && group.size() == 2;
    GroupPlace way;
    if (is_send) way = way_of(request);
    const GroupPlace& place = is_send ? way : place_of(request.group);
    const Task task{place.site, is_send, request.kind, request.root, request.size};
    auto found = planned_.find(task);
    if (found == planned_.end()) found = planned_.emplace(task, planned(task, group)).first;
    ++found->second.summary.requests;
    const PlacedPlan& made = found->second.placed;
    return {made.plan, carried<LinkId>(made.links, place.links),
            carried<NodeId>(made.nodes, place.nodes)};
  }

  /// Null where the group has no part of its own.
  const GroupNetwork* part_for(std::uint32_t group) {
    std::optional<std::optional<GroupNetwork>>& known = parts_[group];
    if (!known) known = part_of(topology_, workload_.groups[group]);
    return *known ? &**known : nullptr;
  }

  GroupPlace way_of(const CommunicationRequest& request) {
    const std::vector<NodeId>& group = workload_.groups[request.group];
    return sites_.on_part(
        send_router_.way(group, part_for(request.group), request.root, request.size), 2);
  }

  const GroupPlace& place_of(std::uint32_t group) {
    std::optional<GroupPlace>& place = places_[group];
    if (place) return *place;
    const std::vector<NodeId>& members = workload_.groups[group];
    const GroupNetwork* part = is_everyone(topology_, members) ? nullptr : part_for(group);
    place = part ? sites_.on_part(*part, members.size()) : sites_.on_whole(members);
    return *place;
  }

  Planned planned(const Task& task, std::span<const NodeId> group) {
    const std::string what = task_text(task, group);
    const Topology& network = sites_.network(task.site);
    PlannedCollective best =
        task.is_send
            ? planned_send(task, what)
            : collectives_.fastest(
                  network, {task.kind, task.size, sites_.members(task.site), task.root}, what);
    Planned made;
    made.summary = {.kind = task.kind,
                    .is_send = task.is_send,
                    .size = task.size,
                    .members = static_cast<std::uint32_t>(group.size()),
                    .requests = 0,
                    .algorithm = best.plan.algorithm,
                    .chunks_per_shard = best.plan.collective.parts.front().pieces,
                    .alone = best.alone,
                    .bound = checked_bound(network, best, what),
                    .was_remembered = best.was_remembered};
    if (sites_.is_whole(task.site))
      made.placed = on_used_links(topology_, best.plan);
    else
      made.placed.plan = std::make_shared<const CommunicationPlan>(std::move(best.plan));
    return made;
  }

  PlannedCollective planned_send(const Task& task, const std::string& what) {
    const Topology& way = sites_.network(task.site);
    PlannedCollective made{plan_send(way, task.root, task.size, model_), {}, false};
    if (const Verdict verdict = verify(way, made.plan.collective, made.plan.schedule);
        !verdict.correct())
      throw InputError(fmt::format("{}: {}", what, verdict.fault->text));
    made.alone = run_native(way, made.plan.collective, made.plan.schedule, model_).completion;
    return made;
  }

  Time checked_bound(const Topology& network, const PlannedCollective& made,
                     const std::string& what) {
    // Without programs of flows: for dozens of sizes they take longer than the planning itself.
    const Bound bound = lower_bound(network, made.plan.collective, model_);
    if (made.alone < bound.time)
      add_problem(fmt::format("{}: {} takes {}, below the lower bound {} ({}): a defect of Tutti",
                              made.plan.algorithm, what, to_text(made.alone), to_text(bound.time),
                              bound.certificate));
    return bound.time;
  }

  void add_problem(const std::string& text) {
    if (result_.problem.empty()) result_.problem = text;
  }

  const Topology& topology_;
  const Workload& workload_;
  const TimeModel& model_;
  CollectivePlanner collectives_;
  GroupSites sites_;
  SendRouter send_router_;
  std::vector<std::optional<std::optional<GroupNetwork>>> parts_; // by group
  std::vector<std::optional<GroupPlace>> places_;                 // by group
  std::map<Task, Planned> planned_;
  WorkloadPlanning result_;
};

} // namespace

WorkloadPlanning plan_workload(const Topology& topology, const Workload& workload,
                               const PlanningOptions& options) {
  return Planner(topology, workload, options).plan();
}

} // namespace tutti
