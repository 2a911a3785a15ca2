// Requests are first reduced to tasks: a request's group is placed on a network that it shares with
// the groups whose surroundings look alike, and requests of one collective and size there are one
// task. Tasks are planned by every candidate, then the iteration chooses among the plans, and each
// request gets its task's plan in the numbers of its own place.
//
// What one NPU sends to another are transfers along a single path. One over a network of its path
// alone is the same for all pairs whose paths look alike, so that thousands of sends between
// pipeline stages share a few plans. Where nodes store what passes, chunks overlap on consecutive
// links; how many are best depends on latencies, which replays weigh.

#include "workloads/planning/planning.hpp"

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/routing.hpp"
#include "sim/text.hpp"
#include "sim/verify.hpp"
#include "workloads/planning/collectives.hpp"
#include "workloads/planning/group_network.hpp"
#include "workloads/planning/group_sites.hpp"
#include "workloads/planning/placed_plan.hpp"
#include "workloads/planning/plan_choice.hpp"
#include "workloads/planning/transported_plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// The network of links that follow each other, from the first member or to it.
GroupNetwork network_along(const Topology& topology, std::span<const NodeId> group,
                           std::span<const LinkId> links) {
  std::vector<NodeId> nodes(group.begin(), group.end());
  for (const LinkId link : links.first(links.size() - 1)) nodes.push_back(topology.link(link).to);
  std::stable_partition(nodes.begin() + 2, nodes.end(),
                        [&](NodeId node) { return node.value < topology.npu_count(); });
  return sub_network(topology, nodes, links);
}

CommunicationPlan send_in_chunks(const Topology& network, std::uint32_t root, Bytes size,
                                 std::uint32_t chunks_per_shard) {
  std::vector<LinkId> links;
  for (std::uint32_t l = 0; l < network.link_count(); ++l) links.emplace_back(l);
  CommunicationPlan send{
      make_collective(
          network,
          {CollectiveKind::broadcast, size, {NodeId{0}, NodeId{1}}, root, chunks_per_shard}),
      Schedule(network.link_count()), "send"};
  const PathId path = send.schedule.paths().intern(links);
  for (std::uint32_t k = 0; k < chunks_per_shard; ++k)
    send.schedule.push({ChunkId{k}, path, Op::copy, false});
  return send;
}

/// Whether some node has to have all of a chunk before it passes it on.
bool stores_on_path(const Topology& network, const TimeModel& model) {
  switch (model.forwarding) {
  case Forwarding::cut_through: return false;
  case Forwarding::store_and_forward: return network.link_count() > 1;
  case Forwarding::automatic: break;
  }
  return std::ranges::any_of(network.nodes().subspan(2),
                             [](const Node& node) { return node.can.store; });
}

/// Finds the paths of sends: the shortest in the part of the network where the two communicate, or
/// in the whole one, where they have no part or the routing is by dimension order.
class SendRouter {
public:
  SendRouter(const Topology& topology, Routing routing)
      : topology_(topology), routing_(routing), flows_(topology.link_count()) {}

  /// The network of the path alone: both members, in rank order, then the other nodes, the NPUs
  /// among them first; the links in the order of the path. `part`: where the two communicate; null:
  /// in the whole network. Errors: InputError where there is none.
  [[nodiscard]] GroupNetwork network_of_path(std::span<const NodeId> group,
                                             const GroupNetwork* part, std::uint32_t root,
                                             Bytes size) {
    const auto [path, is_new] = paths_.try_emplace({group[root], group[1 - root], size});
    std::vector<LinkId>& links = path->second;
    if (is_new && part != nullptr && routing_.rule != Routing::dimension_order) {
      Router router(part->topology, routing_, size);
      for (std::size_t l = 0; l < part->links.size(); ++l)
        router.flows()[l] = flows_[part->links[l].value];
      for (const LinkId link : router.route({NodeId{root}, NodeId{1 - root}}))
        links.push_back(part->links[link.value]);
    } else if (is_new) {
      Router& router = routers_.try_emplace(size, topology_, routing_, size).first->second;
      std::ranges::copy(flows_, router.flows().begin());
      const auto route = router.route({group[root], group[1 - root]});
      links.assign(route.begin(), route.end());
    }
    if (is_new)
      for (const LinkId link : links) ++flows_[link.value];
    return network_along(topology_, group, links);
  }

private:
  const Topology& topology_;
  Routing routing_;
  std::map<Bytes, Router> routers_;  // of the whole network
  std::vector<std::uint32_t> flows_; // per link, of sends of all sizes
  std::map<std::tuple<NodeId, NodeId, Bytes>, std::vector<LinkId>> paths_; // from, to
};

/// On the network of its path: as one chunk, unless it passes nodes that store it first. Then in as
/// many chunks, of 1, 2, 4, ... `most_chunks_per_shard`, as arrive first on the native engine; each
/// takes the whole path.
CommunicationPlan plan_send(const Topology& network, std::uint32_t root, Bytes size,
                            const TimeModel& model, std::uint32_t most_chunks_per_shard) {
  CommunicationPlan best = send_in_chunks(network, root, size, 1);
  if (!stores_on_path(network, model)) return best;
  const auto arrival = [&](const CommunicationPlan& send) {
    return run_native(network, send.collective, send.schedule, model).completion;
  };
  Time least = arrival(best);
  for (std::uint32_t chunks_per_shard = 2;
       chunks_per_shard <= most_chunks_per_shard && chunks_per_shard <= size.count;
       chunks_per_shard *= 2) {
    CommunicationPlan next = send_in_chunks(network, root, size, chunks_per_shard);
    const Time needed = arrival(next);
    if (needed >= least) continue;
    least = needed;
    best = std::move(next);
  }
  return best;
}

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
std::vector<IdType> at_place(std::span<const IdType> of_site, std::span<const IdType> place) {
  if (of_site.empty()) return {place.begin(), place.end()};
  std::vector<IdType> ids(of_site.begin(), of_site.end());
  if (!place.empty())
    for (IdType& id : ids) id = place[id.value];
  return ids;
}

class WorkloadPlanner {
public:
  WorkloadPlanner(const Topology& topology, const Workload& workload,
                  const PlanningOptions& options, const WorkloadSynthesis& synthesis)
      : topology_(topology), workload_(workload), model_(options.options.model),
        one_at_a_time_(options.one_at_a_time), transport_(options.transport.get()),
        synthesis_(synthesis), collectives_(options, synthesis),
        sites_(topology, synthesis.goes_by_names), send_router_(topology, options.options.routing),
        parts_(workload.groups.size()), places_(workload.groups.size()), options_(options.options),
        shares_(options.shares) {}

  WorkloadPlanning plan() {
    result_.plans.requests = requests_of(workload_);
    for (const CommunicationRequest& request : result_.plans.requests) placed(request);
    const PlanChoice choice = chosen();
    result_.plans = plans_by(choice);
    for (const auto& [task, index] : index_of_) {
      PlannedCommunication& summary = planned_[index][choice[index]].summary;
      summary.requests = requests_[index];
      result_.communications.push_back(std::move(summary));
    }
    std::ranges::stable_sort(result_.communications, std::greater{}, &PlannedCommunication::size);
    add_problem(collectives_.problem());
    result_.synthesis_seconds = collectives_.synthesis_seconds();
    result_.warning = collectives_.warning();
    return std::move(result_);
  }

private:
  struct Planned {
    PlacedPlan placed; ///< on the site's network; nodes and links empty: on all of it
    Time busy;
    PlannedCommunication summary;
  };
  /// Where the collective of a request happens.
  struct PlacedRequest {
    std::size_t index = 0; ///< of its task
    GroupPlace place;
  };

  void placed(const CommunicationRequest& request) {
    const std::vector<NodeId>& group = workload_.groups[request.group];
    const bool is_send = request.kind == CollectiveKind::broadcast && group.size() == 2;
    GroupPlace place = is_send ? path_of(request) : place_of(request.group);
    const Task task{place.site, is_send, request.kind, request.root, request.size};
    const auto [found, is_new] = index_of_.emplace(task, planned_.size());
    if (is_new) {
      planned_.push_back(planned(task, group));
      requests_.push_back(0);
    }
    ++requests_[found->second];
    placed_.push_back({found->second, std::move(place)});
  }

  /// By the iteration that the plans are for, where there are several for some task.
  PlanChoice chosen() {
    std::vector<std::vector<PlanVariant>> variants(planned_.size());
    for (std::size_t i = 0; i < planned_.size(); ++i)
      for (const Planned& each : planned_[i])
        variants[i].push_back({each.summary.algorithm, each.summary.alone, each.busy});
    IterationOptions options;
    options.model = model_;
    options.one_at_a_time = one_at_a_time_;
    const auto simulate = [&](const PlanChoice& choice) -> std::optional<SimulatedChoice> {
      try {
        options.watch = watch_of(options_.stage, "iteration, to choose among plans");
        const IterationReport report = simulated(plans_by(choice), options);
        return SimulatedChoice{report.duration, report.operations + report.replayed};
      } catch (const InputError&) { // it comes to a halt, which whoever runs it will say
        return std::nullopt;
      } catch (const Stopped&) {
        return std::nullopt;
      }
    };
    return best_choice(variants, simulate, options_.cancelled);
  }

  [[nodiscard]] IterationReport simulated(const WorkloadPlans& plans,
                                          const IterationOptions& options) const {
    if (transport_ == nullptr) return run_iteration_native(topology_, workload_, plans, options);
    const TransportedPlans by = transported(topology_, plans, *transport_);
    return run_iteration_native(by.topology, workload_, by.plans, options);
  }

  [[nodiscard]] WorkloadPlans plans_by(const PlanChoice& choice) const {
    WorkloadPlans plans{result_.plans.requests, {}};
    for (const auto& [index, place] : placed_) {
      const PlacedPlan& made = planned_[index][choice[index]].placed;
      plans.plans.push_back({made.plan, at_place<LinkId>(made.links, place.links),
                             at_place<NodeId>(made.nodes, place.nodes)});
    }
    return plans;
  }

  /// Null where the group has no part of its own.
  const GroupNetwork* part_for(std::uint32_t group) {
    std::optional<std::optional<GroupNetwork>>& known = parts_[group];
    if (!known) known = part_of(topology_, workload_.groups[group]);
    return *known ? &**known : nullptr;
  }

  GroupPlace path_of(const CommunicationRequest& request) {
    const std::vector<NodeId>& group = workload_.groups[request.group];
    return sites_.on_part(
        send_router_.network_of_path(group, part_for(request.group), request.root, request.size),
        2);
  }

  const GroupPlace& place_of(std::uint32_t group) {
    std::optional<GroupPlace>& place = places_[group];
    if (place) return *place;
    const std::vector<NodeId>& members = workload_.groups[group];
    const GroupNetwork* part =
        is_everyone(members, topology_.npu_count()) ? nullptr : part_for(group);
    place = part ? sites_.on_part(*part, members.size()) : sites_.on_whole(members);
    return *place;
  }

  [[nodiscard]] CollectiveSpec spec_of(const Task& task) const {
    CollectiveSpec spec{task.kind, task.size, sites_.members(task.site), task.root};
    if (task.kind == CollectiveKind::all_to_all && !shares_.empty()) {
      spec.kind = CollectiveKind::all_to_all_v;
      spec.shares.words = shares_;
    }
    return spec;
  }

  /// By each algorithm that can.
  std::vector<Planned> planned(const Task& task, std::span<const NodeId> group) {
    const std::string what = task_text(task, group);
    const Topology& network = sites_.network(task.site);
    std::vector<PlannedCollective> plans;
    if (task.is_send)
      plans.push_back(planned_send(task, what));
    else
      plans = collectives_.by_each(network, spec_of(task), what);
    std::vector<Planned> made;
    for (PlannedCollective& each : plans) {
      made.push_back(
          {.placed = {},
           .busy = each.busy,
           .summary = {.kind = task.kind,
                       .is_send = task.is_send,
                       .size = task.size,
                       .members = static_cast<std::uint32_t>(group.size()),
                       .requests = 0,
                       .algorithm = each.plan.algorithm,
                       .protocol = protocol_of(each.plan),
                       .chunks_per_shard = each.plan.collective.parts.front().chunks_per_shard,
                       .alone = each.alone,
                       .bound = checked_bound(network, each, what),
                       .was_remembered = each.was_remembered}});
      if (sites_.is_whole(task.site))
        made.back().placed = on_used_links(topology_, each.plan);
      else
        made.back().placed.plan = std::make_shared<const CommunicationPlan>(std::move(each.plan));
    }
    return made;
  }

  PlannedCollective planned_send(const Task& task, const std::string& what) {
    const Topology& network = sites_.network(task.site);
    const std::uint32_t most_chunks_per_shard = one_at_a_time_ ? 1 : 64;
    PlannedCollective made{plan_send(transport_ ? with_latencies(network, *transport_) : network,
                                     task.root, task.size, model_, most_chunks_per_shard),
                           {},
                           {},
                           false};
    if (const Verdict verdict = verify(network, made.plan.collective, made.plan.schedule);
        !verdict.correct())
      throw InputError(fmt::format("{}: {}", what, verdict.fault->text));
    made.alone = timed(network, made.plan, true, transport_, model_, {}).alone;
    return made;
  }

  [[nodiscard]] std::string protocol_of(const CommunicationPlan& plan) const {
    return transport_ && plan.library ? plan.library->protocol : "";
  }

  Time checked_bound(const Topology& network, const PlannedCollective& made,
                     const std::string& what) {
    const ProvenBound bound = synthesis_.bound(network, made.plan);
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
  bool one_at_a_time_;
  const Transport* transport_; ///< null: ideal links
  const WorkloadSynthesis& synthesis_;
  CollectivePlanner collectives_;
  GroupSites sites_;
  SendRouter send_router_;
  std::vector<std::optional<std::optional<GroupNetwork>>> parts_; // by group
  std::vector<std::optional<GroupPlace>> places_;                 // by group
  std::map<Task, std::size_t> index_of_;
  std::vector<std::vector<Planned>> planned_; // [task]
  std::vector<std::uint64_t> requests_;       // [task]: how many it serves
  std::vector<PlacedRequest> placed_;         // [request]
  const SynthesisOptions& options_;
  const std::string& shares_;
  WorkloadPlanning result_;
};

} // namespace

WorkloadPlanning plan_workload(const Topology& topology, const Workload& workload,
                               const PlanningOptions& options, const WorkloadSynthesis& synthesis) {
  return WorkloadPlanner(topology, workload, options, synthesis).plan();
}

} // namespace tutti
