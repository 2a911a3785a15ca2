// Requests that share a plan share its shape; what differs between them is only where links and
// members are, which is checked here once for each request.
#include "sim/iteration/placed_shapes.hpp"

#include "sim/error.hpp"
#include "sim/sends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

namespace tutti {

namespace {

[[noreturn]] void refuse(const CommunicationRequest& request, const std::string& why) {
  throw InputError(fmt::format("the plan for {} of {} in group {} doesn't fit: {}",
                               to_text(request.kind), to_text(request.size), request.group, why));
}

/// Equal things get equal numbers, by first use.
template <typename Key> class Numbers {
public:
  std::uint32_t of(const Key& key) {
    return numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

private:
  std::unordered_map<Key, std::uint32_t> numbers_; // never iterated
};

/// A plan's links in the whole network.
class Placing {
public:
  Placing(const Topology& topology, const CommunicationRequest& request, const PlacedPlan& placed)
      : topology_(topology), request_(request), placed_(placed) {
    const Schedule& schedule = placed.plan->schedule;
    if (placed.links.size() != schedule.paths().link_count())
      refuse(request, fmt::format("{} links are placed, it has {}", placed.links.size(),
                                  schedule.paths().link_count()));
    for (const LinkId link : placed.links)
      if (link.value >= topology.link_count()) refuse(request, "one of its links isn't there");
  }

  [[nodiscard]] std::vector<LinkId> links(PathId path) const {
    std::vector<LinkId> links;
    for (const LinkId link : placed_.plan->schedule.paths().links(path)) {
      const LinkId here = placed_.links[link.value];
      if (!links.empty() && topology_.link(links.back()).to != topology_.link(here).from)
        refuse(request_, "a path is broken");
      links.push_back(here);
    }
    return links;
  }
  [[nodiscard]] PathEnds ends(PathId path) const {
    const std::vector<LinkId> along = links(path);
    const NodeId receiver = topology_.link(along.back()).to;
    return {topology_.link(along.front()).from, receiver, topology_.node(receiver).can.store};
  }

private:
  const Topology& topology_;
  const CommunicationRequest& request_;
  const PlacedPlan& placed_;
};

/// Whether the plan is for that many bytes, or for more only because a chunk has at least one.
bool is_of_size(const Collective& collective, Bytes size) {
  const Bytes planned = collective.parts.front().size;
  return planned == size ||
         (planned > size && std::ranges::all_of(collective.chunks, [](const Chunk& chunk) {
            return chunk.size == Bytes{1};
          }));
}

/// The members, as nodes of the whole network, in the order of the plan's group.
std::vector<NodeId> members_of(const CommunicationRequest& request, const PlacedPlan& placed,
                               std::span<const NodeId> group) {
  const std::vector<CollectivePart>& parts = placed.plan->collective.parts;
  if (parts.size() != 1) refuse(request, "it isn't for one collective");
  const CollectivePart& part = parts.front();
  const bool is_unequal =
      part.kind == CollectiveKind::all_to_all_v && request.kind == CollectiveKind::all_to_all;
  if ((part.kind != request.kind && !is_unequal) ||
      !is_of_size(placed.plan->collective, request.size))
    refuse(request, fmt::format("it is for {}", placed.plan->collective.name()));
  std::vector<NodeId> members;
  for (const NodeId member : part.group) {
    if (member.value >= placed.nodes.size()) refuse(request, "one of its members isn't placed");
    members.push_back(placed.nodes[member.value]);
  }
  if (!std::is_permutation(members.begin(), members.end(), group.begin(), group.end()))
    refuse(request, "it is for other members");
  if (has_root(part.kind) && members[part.root] != group[request.root])
    refuse(request, "it has another root");
  return members;
}

/// Where a node stands in a group.
class Members {
public:
  explicit Members(std::span<const NodeId> group) {
    for (std::uint32_t m = 0; m < group.size(); ++m) index_.emplace(group[m], m);
  }
  [[nodiscard]] std::uint32_t index(NodeId node) const {
    const auto found = index_.find(node);
    return found == index_.end() ? PlanShape::none : found->second;
  }
  [[nodiscard]] std::size_t size() const { return index_.size(); }

private:
  std::unordered_map<NodeId, std::uint32_t> index_; // never iterated
};

/// What a member waits for: all that it sends and receives, or one at a time all that it receives.
/// Who receives nothing waits for what it sends.
void find_awaited(PlanShape& shape, bool one_at_a_time) {
  std::vector<std::uint32_t> received(shape.transfers_of.size());
  for (const PlanShape::Movement& transfer : shape.transfers)
    if (const std::uint32_t to = shape.routes[transfer.route].receiver; to != PlanShape::none)
      ++received[to];
  for (std::size_t member = 0; member < received.size(); ++member) {
    const bool awaits_sends = !one_at_a_time || received[member] == 0;
    shape.awaits_sends.push_back(awaits_sends);
    shape.awaited_of.push_back(awaits_sends ? shape.transfers_of[member] : received[member]);
  }
}

PlanShape make_shape(const std::shared_ptr<const CommunicationPlan>& plan, const Placing& placing,
                     const Members& members, bool one_at_a_time, bool some_come_late) {
  const Schedule& schedule = plan->schedule;
  std::vector<PathEnds> ends(schedule.paths().size(), PathEnds{NodeId{0}, NodeId{0}, true});
  std::vector<bool> is_used(schedule.paths().size());
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const PathId path = schedule.path_of(i);
    if (!is_used[path.value]) ends[path.value] = placing.ends(path);
    is_used[path.value] = true;
  }
  PlanShape shape{.plan = plan};
  shape.transfers_of.resize(members.size());
  shape.transfers.reserve(schedule.size());
  Numbers<std::int64_t> sizes;
  Numbers<std::uint32_t> routes;
  for (std::uint32_t i = 0; i < schedule.size(); ++i) {
    const Transfer transfer = schedule[i];
    const std::uint32_t number = routes.of(transfer.path.value);
    if (number == shape.routes.size()) shape.routes.emplace_back();
    PlanShape::Route& route = shape.routes[number];
    const PathEnds& at = ends[transfer.path.value];
    if (!route.path.valid())
      route = {transfer.path, members.index(at.sender), members.index(at.receiver)};
    for (const std::uint32_t end : {route.sender, route.receiver})
      if (end != PlanShape::none) ++shape.transfers_of[end];
    const Bytes size =
        send_size(plan->collective, schedule, i); // asked for of a send's first alone
    const std::uint32_t size_index = sizes.of(size.count);
    if (size_index == shape.sizes.size()) shape.sizes.push_back(size);
    shape.transfers.push_back(
        {number, size_index & 0x7fffffffU, transfer.op == Op::reduce ? 1U : 0U});
  }
  find_awaited(shape, one_at_a_time);
  shape.routes_from.resize(members.size());
  for (std::uint32_t route = 0; some_come_late && route < shape.routes.size(); ++route)
    if (const std::uint32_t from = shape.routes[route].sender; from != PlanShape::none)
      shape.routes_from[from].push_back(route);
  shape.path_ends = std::move(ends);
  return shape;
}

} // namespace

PlacedShapes::PlacedShapes(const Topology& topology, const Workload& workload,
                           const WorkloadPlans& plans, const IterationOptions& options)
    : one_at_a_time_(options.one_at_a_time),
      some_come_late_(options.one_at_a_time || !options.starts.empty()),
      paths_(topology.link_count()) {
  if (plans.plans.size() != plans.requests.size())
    throw InputError(fmt::format("there are {} plans for {} communications", plans.plans.size(),
                                 plans.requests.size()));
  for (std::size_t p = 0; p < plans.plans.size(); ++p) {
    if (p > 0 && !(plans.requests[p - 1] < plans.requests[p]))
      throw InputError("the communications that are planned aren't in order");
    if (plans.requests[p].group >= workload.groups.size())
      throw InputError(
          fmt::format("a plan is for group {}, which isn't there", plans.requests[p].group));
    if (!plans.plans[p].plan) refuse(plans.requests[p], "there is none");
    place(topology, workload, plans.requests[p], plans.plans[p]);
  }
}

void PlacedShapes::place(const Topology& topology, const Workload& workload,
                         const CommunicationRequest& request, const PlacedPlan& placed) {
  const std::vector<NodeId>& group = workload.groups[request.group];
  const Placing placing(topology, request, placed);
  const std::vector<NodeId> nodes_of_members = members_of(request, placed, group);
  const Members members(nodes_of_members);
  const auto [known, is_new] =
      shape_of_plan_.try_emplace(placed.plan.get(), static_cast<std::uint32_t>(shapes_.size()));
  if (is_new)
    shapes_.push_back(make_shape(placed.plan, placing, members, one_at_a_time_, some_come_late_));
  PlanShape& shape = shapes_[known->second];

  PlacedShape here;
  here.shape = known->second;
  Numbers<NodeId> nodes;
  Numbers<LinkId> links, links_of_plan;
  std::vector<std::uint32_t> ends;
  for (const PlanShape::Route& route : shape.routes) {
    const std::vector<LinkId> along = placing.links(route.path);
    for (std::size_t i = 0; i < along.size(); ++i) {
      const std::uint32_t number = links.of(along[i]);
      if (number != links_of_plan.of(placed.plan->schedule.paths().links(route.path)[i]))
        refuse(request, "two of its links are placed on one");
      if (number == here.links.size()) here.links.push_back(along[i]);
    }
    here.paths.push_back(paths_.intern(along));
    const PathEnds at = placing.ends(route.path);
    ends.insert(ends.end(), {nodes.of(at.sender), nodes.of(at.receiver), at.stores ? 1U : 0U});
    if (members.index(at.sender) != route.sender || members.index(at.receiver) != route.receiver)
      refuse(request, "a transfer has other ends here than where it was first placed");
  }
  if (is_new) shape.ends = ends;
  if (ends != shape.ends)
    refuse(request, "its network is another one here than where it was first placed");
  const Members ranks(group);
  for (const NodeId member : nodes_of_members) here.ranks.push_back(ranks.index(member));
  placed_.push_back(std::move(here));
}

} // namespace tutti
