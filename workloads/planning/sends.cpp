// A transfer over a network of its path alone is the same for all pairs whose paths look alike, so
// that thousands of sends between pipeline stages share a few plans. Where nodes store what passes,
// chunks overlap on consecutive links; how many are best depends on latencies, which replays weigh.
#include "workloads/planning/sends.hpp"

#include "sim/engines/engine.hpp"
#include "workloads/planning/group_network.hpp"

#include <algorithm>
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

CommunicationPlan in_chunks(const Topology& network, std::uint32_t root, Bytes size,
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

} // namespace

GroupNetwork SendRouter::network_of_path(std::span<const NodeId> group, const GroupNetwork* part,
                                         std::uint32_t root, Bytes size) {
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

CommunicationPlan plan_send(const Topology& network, std::uint32_t root, Bytes size,
                            const TimeModel& model, std::uint32_t most_chunks_per_shard) {
  CommunicationPlan best = in_chunks(network, root, size, 1);
  if (!stores_on_path(network, model)) return best;
  const auto arrival = [&](const CommunicationPlan& send) {
    return run_native(network, send.collective, send.schedule, model).completion;
  };
  Time least = arrival(best);
  for (std::uint32_t chunks_per_shard = 2;
       chunks_per_shard <= most_chunks_per_shard && chunks_per_shard <= size.count;
       chunks_per_shard *= 2) {
    CommunicationPlan next = in_chunks(network, root, size, chunks_per_shard);
    const Time needed = arrival(next);
    if (needed >= least) continue;
    least = needed;
    best = std::move(next);
  }
  return best;
}

} // namespace tutti
