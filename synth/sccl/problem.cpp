// Members' nodes become indices of the network's; who holds a chunk at the start is no destination
// of it. Schedules are pruned by one pass from the last send back.
#include "synth/sccl/problem.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

/// Where the topology's nodes stand in the network. Pre: they do (members store and copy).
std::vector<std::uint32_t> indices(const StepNetwork& network, std::span<const NodeId> nodes) {
  std::vector<std::uint32_t> found;
  for (const NodeId node : nodes)
    found.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(network.nodes, node) -
                                               network.nodes.begin()));
  return found;
}

} // namespace

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
