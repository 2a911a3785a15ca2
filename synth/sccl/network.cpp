#include "synth/sccl/network.hpp"

#include "sim/error.hpp"
#include "synth/timed/switch_ways.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti {

namespace {

constexpr std::size_t most_lanes = 10'000'000;

void add_lanes(const Topology& topology, StepNetwork& network) {
  std::vector<bool> keeps(topology.node_count());
  std::vector<std::uint32_t> index(topology.node_count());
  for (std::uint32_t n = 0; n < network.node_count(); ++n) {
    keeps[network.nodes[n].value] = true;
    index[network.nodes[n].value] = n;
  }
  SwitchWays search(topology, keeps);
  for (std::uint32_t from = 0; from < network.node_count(); ++from)
    for (auto& [to, ways] : search.from(network.nodes[from]))
      for (auto& links : ways) {
        network.lanes.push_back({from, index[to.value], std::move(links)});
        if (network.lanes.size() > most_lanes)
          throw InputError(fmt::format("{} has over {} ways between its nodes: too many for sccl",
                                       topology.name(), most_lanes));
      }
}

/// A limit for each link and each group that a lane uses.
void add_limits(const Topology& topology, StepNetwork& network) {
  std::vector<std::vector<std::uint32_t>> by_link(topology.link_count());
  std::vector<std::vector<std::uint32_t>> by_group(topology.groups().size());
  for (std::uint32_t l = 0; l < network.lanes.size(); ++l)
    for (const LinkId link : network.lanes[l].links) {
      by_link[link.value].push_back(l);
      for (const std::uint32_t group : topology.groups_of(link)) by_group[group].push_back(l);
    }
  const auto add = [&](std::string name, std::vector<std::uint32_t>& lanes, Bandwidth bandwidth) {
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

} // namespace

namespace {

/// Breadth first from `starts`, over the lanes that `next` tells of a node, to the end that `end`
/// tells of a lane.
template <typename End>
std::vector<std::uint32_t> distances(const StepNetwork& network,
                                     std::span<const std::uint32_t> starts,
                                     const std::vector<std::vector<std::uint32_t>>& next, End end) {
  std::vector<std::uint32_t> distance(network.node_count(), unreachable),
      queue(starts.begin(), starts.end());
  for (const std::uint32_t start : starts) distance[start] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const std::uint32_t l : next[queue[i]])
      if (std::uint32_t& d = distance[end(network.lanes[l])]; d == unreachable) {
        d = distance[queue[i]] + 1;
        queue.push_back(end(network.lanes[l]));
      }
  return distance;
}

} // namespace

std::vector<std::uint32_t>
StepNetwork::distances_from(std::span<const std::uint32_t> sources) const {
  return distances(*this, sources, out_lanes, [](const Lane& lane) { return lane.to; });
}

std::vector<std::uint32_t> StepNetwork::distances_to(std::span<const std::uint32_t> targets) const {
  return distances(*this, targets, in_lanes, [](const Lane& lane) { return lane.from; });
}

std::vector<Ratio> lane_widths(const StepNetwork& network) {
  std::vector<Ratio> width(network.lanes.size(), Ratio(INT32_MAX));
  for (const LaneLimit& limit : network.limits)
    for (const std::uint32_t l : limit.lanes) width[l] = std::min(width[l], limit.per_round);
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

StepNetwork step_network(const Topology& topology, bool reducing) {
  StepNetwork network;
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    const Abilities can = topology.node(NodeId{n}).can;
    if (can.store && can.copy && (can.reduce || !reducing)) network.nodes.push_back(NodeId{n});
  }
  add_lanes(topology, network);
  network.out_lanes.resize(network.node_count());
  network.in_lanes.resize(network.node_count());
  network.round = {INT64_MAX};
  for (std::uint32_t l = 0; l < network.lanes.size(); ++l) {
    const Lane& lane = network.lanes[l];
    network.out_lanes[lane.from].push_back(l);
    network.in_lanes[lane.to].push_back(l);
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

} // namespace tutti
