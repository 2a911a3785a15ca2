// A plan is made on a small network and runs on the whole one. Both directions are renumberings of
// its paths: order and chunks of transfers stay, so that what was verified remains correct.
#include "workloads/planning/placed_plan.hpp"

#include "workloads/planning/group_network.hpp"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// The same transfers over the links `new_link[old]` of a network with so many.
Schedule renumbered(const Schedule& schedule, std::span<const LinkId> new_link,
                    std::uint32_t link_count) {
  Schedule result(link_count);
  result.reserve(schedule.size());
  std::vector<PathId> new_path(schedule.paths().size());
  std::vector<LinkId> links;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    Transfer transfer = schedule[i];
    PathId& path = new_path[transfer.path.value];
    if (!path.valid()) {
      links.clear();
      for (const LinkId link : schedule.paths().links(transfer.path))
        links.push_back(new_link[link.value]);
      path = result.paths().intern(links);
    }
    transfer.path = path;
    result.push(transfer);
    for (const Dependency& dependency : schedule.dependencies(i))
      result.add_dependency(i, dependency);
  }
  return result;
}

/// The collective of one named part for other members.
Collective with_members(const Topology& topology, const CollectivePart& part,
                        std::vector<NodeId> group) {
  CollectiveSpec spec = spec_of(part, part.chunks_per_shard);
  spec.group = std::move(group);
  return make_collective(topology, spec);
}

std::vector<LinkId> used_links(const Topology& topology, const Schedule& schedule) {
  std::vector<bool> is_used(topology.link_count()), is_seen(schedule.paths().size());
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const PathId path = schedule.path_of(i);
    if (is_seen[path.value]) continue;
    is_seen[path.value] = true;
    for (const LinkId link : schedule.paths().links(path)) is_used[link.value] = true;
  }
  std::vector<LinkId> links;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    if (is_used[l]) links.emplace_back(l);
  return links;
}

/// The group, then the other ends of the links, ascending.
std::vector<NodeId> nodes_of(const Topology& topology, std::span<const NodeId> group,
                             std::span<const LinkId> links) {
  std::vector<bool> is_there(topology.node_count());
  for (const LinkId link : links)
    for (const NodeId end : {topology.link(link).from, topology.link(link).to})
      is_there[end.value] = true;
  for (const NodeId member : group) is_there[member.value] = false;
  std::vector<NodeId> nodes(group.begin(), group.end());
  for (std::uint32_t n = 0; n < topology.node_count(); ++n)
    if (is_there[n]) nodes.emplace_back(n);
  return nodes;
}

} // namespace

CommunicationPlan on_whole_network(const Topology& topology, const PlacedPlan& placed) {
  const CollectivePart& part = placed.plan->collective.parts.front();
  std::vector<NodeId> group;
  for (const NodeId member : part.group) group.push_back(placed.nodes[member.value]);
  return {with_members(topology, part, std::move(group)),
          renumbered(placed.plan->schedule, placed.links, topology.link_count()),
          placed.plan->algorithm, placed.plan->library, placed.plan->launch};
}

PlacedPlan on_used_links(const Topology& topology, const CommunicationPlan& whole) {
  const CollectivePart& part = whole.collective.parts.front();
  std::vector<LinkId> links = used_links(topology, whole.schedule);
  std::vector<NodeId> nodes = nodes_of(topology, part.group, links);
  const GroupNetwork network = sub_network(topology, nodes, links);

  std::vector<LinkId> new_link(topology.link_count());
  for (std::uint32_t l = 0; l < links.size(); ++l) new_link[links[l].value] = LinkId{l};
  std::vector<NodeId> group;
  for (std::uint32_t member = 0; member < part.group.size(); ++member) group.emplace_back(member);
  auto plan = std::make_shared<CommunicationPlan>(CommunicationPlan{
      with_members(network.topology, part, std::move(group)),
      renumbered(whole.schedule, new_link, static_cast<std::uint32_t>(links.size())),
      whole.algorithm, whole.library, whole.launch});
  return {std::move(plan), std::move(links), std::move(nodes)};
}

} // namespace tutti
