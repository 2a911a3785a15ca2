#include "synth/sccl/problem.hpp"

#include <algorithm>
#include <iterator>
#include <span>

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
    TimedChunk chunk{indices(problem.network, collective.held_by(ChunkId{c})), {}};
    const auto wanted = indices(problem.network, collective.wanted_by(ChunkId{c}));
    std::ranges::set_difference(wanted, chunk.sources, std::back_inserter(chunk.destinations));
    problem.chunks.push_back(std::move(chunk));
  }
  return problem;
}

} // namespace tutti
