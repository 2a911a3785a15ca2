// A node that is no source and no destination (a switch, a relay) may stay where it is: only the
// others must move.
#include "synth/teccl/symmetry.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace tutti {

ChunkTraffic traffic_of(const EpochProblem& problem) {
  const EpochNetwork& network = problem.network;
  ChunkTraffic traffic = traffic_of(network, problem.chunks);
  for (std::uint32_t n = 0; n < network.node_count(); ++n)
    traffic.node_kinds.push_back((network.stores[n] ? 1U : 0U) + (network.copies[n] ? 2U : 0U));
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> kinds;
  for (const EpochLimit& each : network.limits) {
    ChunkTraffic::Limit& limit = traffic.limits.emplace_back();
    const auto next = static_cast<std::uint32_t>(kinds.size());
    limit.kind = kinds.try_emplace({each.window, each.most}, next).first->second;
    for (const LaneUse& use : each.uses) limit.uses.push_back({use.lane.value, use.offset});
    std::ranges::sort(limit.uses);
  }
  std::set<std::uint32_t> ends;
  for (const TimedChunk& chunk : problem.chunks) {
    ends.insert(chunk.sources.begin(), chunk.sources.end());
    ends.insert(chunk.destinations.begin(), chunk.destinations.end());
  }
  traffic.moving_nodes.assign(ends.begin(), ends.end());
  return traffic;
}

std::vector<ChunkSymmetry> free_symmetries(const EpochProblem& problem, std::size_t most) {
  const ChunkTraffic traffic = traffic_of(problem);
  return free_symmetries(traffic, automorphisms(traffic), most);
}

} // namespace tutti
