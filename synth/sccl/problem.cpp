// Paths through switches are lanes of one step, so that only nodes which store and copy remain; a
// limit for each link and shared group keeps what such lanes have in common. Members' nodes become
// indices of the network's; who holds a chunk at the start is no destination of it. Schedules are
// pruned by one pass from the last send back.

#include "synth/sccl/problem.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

void add_lanes(const Topology& topology, StepNetwork& network) {
  std::vector<bool> keeps(topology.node_count());
  std::vector<std::uint32_t> index(topology.node_count());
  for (std::uint32_t n = 0; n < network.nodes.size(); ++n) {
    keeps[network.nodes[n].value] = true;
    index[network.nodes[n].value] = n;
  }
  network.lanes = lanes_through_switches(topology, keeps, "sccl");
  for (Lane& lane : network.lanes) {
    lane.from = index[lane.from];
    lane.to = index[lane.to];
  }
  network.index_lanes(static_cast<std::uint32_t>(network.nodes.size()));
}

/// A limit for each link and each group that a lane uses.
void add_limits(const Topology& topology, StepNetwork& network) {
  std::vector<std::vector<LaneId>> by_link(topology.link_count());
  std::vector<std::vector<LaneId>> by_group(topology.groups().size());
  for (std::uint32_t l = 0; l < network.lanes.size(); ++l)
    for (const LinkId link : network.lanes[l].links) {
      by_link[link.value].emplace_back(l);
      for (const std::uint32_t group : topology.groups_of(link)) by_group[group].emplace_back(l);
    }
  const auto add = [&](std::string name, std::vector<LaneId>& lanes, Bandwidth bandwidth) {
    if (lanes.empty()) return;
    const Ratio per_round(bandwidth.bytes_per_second, network.round.bytes_per_second);
    network.limits.push_back({std::move(name), std::move(lanes), per_round});
  };
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Link& link = topology.link(LinkId{l});
    add(topology.node(link.from).name + ">" + topology.node(link.to).name, by_link[l],
        link.bandwidth);
  }
  // A lane that crosses a group twice counts twice.
  for (std::uint32_t g = 0; g < by_group.size(); ++g)
    add(topology.groups()[g].name, by_group[g], topology.groups()[g].bandwidth);
}

/// Lanes are the links between nodes that store and copy (and reduce, where `reducing`), and all
/// shortest paths through nodes that don't store, at most eight between two nodes. Limits are the
/// links and the shared groups, in units of the slowest lane's bandwidth.
/// Errors: InputError where two nodes are joined by more paths than memory allows (10^7 lanes).
StepNetwork step_network(const Topology& topology, bool reducing) {
  StepNetwork network;
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    const Abilities can = topology.node(NodeId{n}).can;
    if (can.store && can.copy && (can.reduce || !reducing)) network.nodes.push_back(NodeId{n});
  }
  add_lanes(topology, network);
  network.round = {INT64_MAX};
  for (const Lane& lane : network.lanes) {
    Time latency;
    for (const LinkId link : lane.links) {
      latency += topology.link(link).latency;
      network.round = std::min(network.round, topology.effective_bandwidth(link));
    }
    network.step_latency = std::max(network.step_latency, latency);
  }
  add_limits(topology, network);
  return network;
}

/// Where the topology's nodes stand in the network. Pre: they do (members store and copy).
std::vector<std::uint32_t> indices(const StepNetwork& network, std::span<const NodeId> nodes) {
  std::vector<std::uint32_t> found;
  for (const NodeId node : nodes)
    found.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(network.nodes, node) -
                                               network.nodes.begin()));
  return found;
}

} // namespace

std::vector<Ratio> lane_widths(const StepNetwork& network) {
  std::vector<Ratio> width(network.lanes.size(), Ratio(INT32_MAX));
  for (const StepLimit& limit : network.limits)
    for (const LaneId l : limit.lanes) width[l.value] = std::min(width[l.value], limit.per_round);
  return width;
}

std::vector<Ratio> intake(const StepNetwork& network) {
  const std::vector<Ratio> width = lane_widths(network);
  std::vector<Ratio> node(network.node_count());
  for (std::uint32_t l = 0; l < network.lanes.size(); ++l) {
    Ratio& sum = node[network.lanes[l].to];
    sum = sum + width[l];
  }
  return node;
}

StepProblem step_problem(const Topology& topology, const Collective& collective, bool reducing) {
  StepProblem problem{step_network(topology, reducing), {}};
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    TimedChunk chunk{indices(problem.network, collective.sources(ChunkId{c})), {}};
    const auto wanted = indices(problem.network, collective.destinations(ChunkId{c}));
    std::ranges::set_difference(wanted, chunk.sources, std::back_inserter(chunk.destinations));
    problem.chunks.push_back(std::move(chunk));
  }
  return problem;
}

void sort_sends(StepSchedule& schedule) {
  std::ranges::sort(schedule.sends, {}, [](const StepSend& send) {
    return std::tuple(send.step, send.lane, send.chunk);
  });
}

StepSchedule without_dead_ends(const StepProblem& problem, const StepInstance& instance,
                               StepSchedule schedule) {
  const std::size_t nodes = problem.network.node_count();
  std::vector<bool> needed(problem.chunks.size() * instance.chunks_per_shard * nodes);
  for (std::size_t c = 0; c < problem.chunks.size() * instance.chunks_per_shard; ++c)
    for (const std::uint32_t n : problem.chunks[c / instance.chunks_per_shard].destinations)
      needed[c * nodes + n] = true;
  // Backwards: what a send that is needed passes on is needed at its start.
  std::vector<StepSend> kept;
  for (std::size_t i = schedule.sends.size(); i-- > 0;) {
    const StepSend& send = schedule.sends[i];
    const Lane& lane = problem.network.lane(send.lane);
    if (!needed[send.chunk.value * nodes + lane.to]) continue;
    needed[send.chunk.value * nodes + lane.from] = true;
    kept.push_back(send);
  }
  std::ranges::reverse(kept);
  schedule.sends = std::move(kept);
  return schedule;
}

} // namespace tutti
