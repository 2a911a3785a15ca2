// Rerouting replaces paths one by one in plans on the whole network (sim/repair). Planning anew
// works on the network without the failed links, and is then compared with the detours, since a
// group's own part may have lost more than nodes outside of it can make up for.
#include "workloads/planning/repair.hpp"

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/repair/rerouting.hpp"
#include "sim/verify.hpp"
#include "workloads/planning/placed_plan.hpp"
#include "workloads/planning/transported_plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tutti {

namespace {

NetworkState state_without(const Topology& topology, std::span<const NetworkEvent> events) {
  NetworkState state(topology);
  for (const NetworkEvent& event : events) state.apply(event);
  return state;
}

class Rerouter {
public:
  Rerouter(const Topology& topology, std::span<const LinkId> failed, const TimeModel& model)
      : topology_(topology), model_(model), events_(links_down(topology, failed)),
        network_(state_without(topology, events_)) {}

  [[nodiscard]] bool is_hit(const PlacedPlan& placed) const {
    return std::ranges::any_of(placed.links, [this](LinkId link) { return !network_.is_up(link); });
  }

  [[nodiscard]] PlacedPlan rerouted(const PlacedPlan& placed) const {
    if (!is_hit(placed)) return placed;
    CommunicationPlan plan = on_whole_network(topology_, placed);
    plan.schedule = around(plan);
    if (const Verdict verdict = verify(topology_, plan.collective, plan.schedule);
        !verdict.correct())
      throw InputError(fmt::format("{} by {} can't be rerouted: {}", plan.collective.name(),
                                   plan.algorithm, verdict.fault->text));
    return on_used_links(topology_, plan);
  }

private:
  [[nodiscard]] Schedule around(const CommunicationPlan& plan) const {
    const Reaction at_once{.policy = Policy::reroute, .detection = {}, .decision = {}, .plan = {}};
    Schedule with_detours = plan.schedule;
    const Rerouting made = tutti::rerouted(
        {find_engine("native"), topology_, plan.collective, model_, at_once, events_},
        with_detours);
    std::map<PathId, PathId> instead;
    for (const RouteChange& change : made.changes)
      for (const auto& [path, detour] : change.paths) instead[path] = detour;

    Schedule rerouted(topology_.link_count());
    rerouted.reserve(with_detours.size());
    for (std::size_t i = 0; i < with_detours.size(); ++i) {
      Transfer transfer = with_detours[i];
      const auto found = instead.find(transfer.path);
      const auto links =
          with_detours.paths().links(found == instead.end() ? transfer.path : found->second);
      require_whole(links);
      transfer.path = rerouted.paths().intern(links);
      rerouted.push(transfer);
      for (const Dependency& dependency : with_detours.dependencies(i))
        rerouted.add_dependency(i, dependency);
    }
    return rerouted;
  }

  void require_whole(std::span<const LinkId> path) const {
    for (const LinkId link : path)
      if (!network_.is_up(link))
        throw InputError(fmt::format("{} can't be reached from {} over the links that are left",
                                     topology_.node(topology_.link(path.back()).to).name,
                                     topology_.node(topology_.link(path.front()).from).name));
  }

  const Topology& topology_;
  const TimeModel& model_;
  std::vector<NetworkEvent> events_;
  NetworkState network_;
};

/// An old plan with detours stands where a new one did, which took `before` alone.
void stay(const PlannedCommunication& kept, Time before, WorkloadPlanning& planning) {
  std::vector<PlannedCommunication>& rows = planning.communications;
  const auto instead_of = std::ranges::find_if(rows, [&](const PlannedCommunication& row) {
    return row.kind == kept.kind && row.is_send == kept.is_send && row.size == kept.size &&
           row.members == kept.members && row.alone == before;
  });
  if (--instead_of->requests == 0)
    *instead_of = kept;
  else
    rows.insert(instead_of + 1, kept);
}

} // namespace

std::vector<NetworkEvent> links_down(const Topology& topology, std::span<const LinkId> failed) {
  std::vector<NetworkEvent> events;
  for (const LinkId link : failed)
    events.push_back({.at = {}, .kind = NetworkEvent::Kind::link_down, .link = link});
  return sorted_events(topology, events);
}

WorkloadPlans rerouted(const Topology& topology, const WorkloadPlans& plans,
                       std::span<const LinkId> failed, const TimeModel& model) {
  const Rerouter rerouter(topology, failed, model);
  WorkloadPlans result{plans.requests, {}};
  for (const PlacedPlan& placed : plans.plans) result.plans.push_back(rerouter.rerouted(placed));
  return result;
}

WorkloadPlanning resynthesized(const Topology& topology, const Workload& workload,
                               const PlanningOptions& options, const WorkloadSynthesis& synthesis,
                               const WorkloadPlans& before, std::span<const LinkId> failed) {
  const PresentNetwork present =
      present_network(topology, state_without(topology, links_down(topology, failed)));
  WorkloadPlanning planning = plan_workload(present.topology, workload, options, synthesis);
  for (PlacedPlan& placed : planning.plans.plans)
    for (LinkId& link : placed.links) link = present.original[link.value];

  const TimeModel& model = options.options.model;
  const Rerouter rerouter(topology, failed, model);
  const auto alone = [&](CommunicationPlan plan, bool is_send) {
    return timed(topology, plan, is_send, options.transport.get(), model, {}).alone;
  };
  for (std::size_t i = 0; i < before.plans.size(); ++i) {
    if (!rerouter.is_hit(before.plans[i])) continue;
    PlacedPlan detoured = rerouter.rerouted(before.plans[i]);
    PlacedPlan& anew = planning.plans.plans[i];
    const CommunicationRequest& request = before.requests[i];
    const std::size_t members = workload.groups[request.group].size();
    const bool is_send = request.kind == CollectiveKind::broadcast && members == 2;
    const CommunicationPlan whole = on_whole_network(topology, detoured);
    const Time time = alone(whole, is_send),
               time_anew = alone(on_whole_network(topology, anew), is_send);
    if (time >= time_anew) continue;
    stay({.kind = request.kind,
          .is_send = is_send,
          .size = request.size,
          .members = static_cast<std::uint32_t>(members),
          .requests = 1,
          .algorithm = whole.algorithm + ", with detours",
          .protocol = options.transport && whole.library ? whole.library->protocol : "",
          .alone = time,
          .bound = synthesis.bound(present.topology, whole).time,
          .was_remembered = false},
         time_anew, planning);
    anew = std::move(detoured);
  }
  return planning;
}

} // namespace tutti
