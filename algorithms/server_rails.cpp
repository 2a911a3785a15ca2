// Why: schedules for Mixture-of-Experts traffic go by servers and rails, whoever is in a group, and
// whatever numbers its NPUs have. Idea: servers are NCCL's nodes (nccl/nodes.hpp); a switch that
// NPUs of several servers are next to is a rail. Of NPUs of a server at one switch, as with a
// single fabric, the k-th ones are on a rail, and so are those that are next to none.

#include "algorithms/server_rails.hpp"

#include "algorithms/nccl/nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tutti {

namespace {

/// [node]: the lowest switch next to it that NPUs of several servers are next to; else none.
std::vector<std::uint32_t> rail_switches(const Topology& topology,
                                         const nccl::NodesOfNpus& server_of) {
  constexpr std::uint32_t several = no_index - 1;
  const auto is_way_out = [&](const Link& link) {
    return topology.node(link.from).kind == NodeKind::npu &&
           topology.node(link.to).kind == NodeKind::switching;
  };
  std::vector<std::uint32_t> beside(topology.node_count(), no_index); // by switch
  for (const Link& link : topology.links()) {
    if (!is_way_out(link)) continue;
    std::uint32_t& server = beside[link.to.value];
    server = server == no_index || server == server_of(link.from) ? server_of(link.from) : several;
  }
  std::vector<std::uint32_t> rail(topology.node_count(), no_index);
  for (const Link& link : topology.links())
    if (is_way_out(link) && beside[link.to.value] == several)
      rail[link.from.value] = std::min(rail[link.from.value], link.to.value);
  return rail;
}

} // namespace

ServerRails find_server_rails(const Topology& topology, std::span<const NodeId> group) {
  ServerRails found;
  const nccl::NodesOfNpus server_of(topology, "", "h100");
  std::map<std::uint32_t, std::uint32_t> servers, all_servers; // of members; of all NPUs
  for (const NodeId npu : group)
    found.server.push_back(
        servers.try_emplace(server_of(npu), static_cast<std::uint32_t>(servers.size()))
            .first->second);
  const std::vector<std::uint32_t> at_switch = rail_switches(topology, server_of);
  // By switch and place among the NPUs of the server at this switch.
  using Place = std::pair<std::uint32_t, std::uint32_t>;
  std::vector<Place> place_of(topology.npu_count());
  std::map<Place, std::uint32_t> seen; // by server and switch
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) {
    const std::uint32_t server = server_of(NodeId{n});
    ++all_servers[server];
    place_of[n] = {at_switch[n], seen[{server, at_switch[n]}]++};
  }
  if (all_servers.size() == 1 && !server_of.gpu_is_known()) {
    found.obstacle = "the network shows no servers";
    return found;
  }
  std::map<Place, std::uint32_t> rails;
  for (const NodeId npu : group) rails.emplace(place_of[npu.value], 0);
  for (auto& [place, rail] : rails) rail = found.rails++;
  found.servers = static_cast<std::uint32_t>(servers.size());
  found.members.assign(std::size_t{found.servers} * found.rails, ServerRails::nobody);
  for (Rank rank = 0; rank < group.size(); ++rank) {
    found.rail.push_back(rails[place_of[group[rank].value]]);
    found.members[found.server[rank] * found.rails + found.rail[rank]] = rank;
  }
  return found;
}

Unicast find_unicast(const Topology& topology, const Collective& collective) {
  Unicast found;
  std::vector<Rank> rank_of(topology.node_count());
  const std::vector<NodeId>& group = collective.parts.front().group;
  for (Rank rank = 0; rank < group.size(); ++rank) rank_of[group[rank].value] = rank;
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    const ChunkId chunk{c};
    const std::span<const NodeId> from = collective.sources(chunk),
                                  to = collective.destinations(chunk);
    if (from.size() != 1 || to.size() != 1 || collective.chunks[c].reduces) {
      found.obstacle = fmt::format("chunk {} doesn't go from one NPU to one other", c);
      return found;
    }
    if (from[0] != to[0])
      found.chunks.push_back(
          {chunk, rank_of[from[0].value], rank_of[to[0].value], collective.chunks[c].size.count});
  }
  return found;
}

} // namespace tutti
