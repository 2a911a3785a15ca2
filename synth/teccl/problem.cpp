// All chunks count with the largest one's size, since an epoch network knows one size only.
#include "synth/teccl/problem.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>

namespace tutti {

namespace {

std::vector<std::uint32_t> keepers(const Topology& topology, std::span<const NodeId> nodes) {
  std::vector<std::uint32_t> values;
  for (const NodeId id : nodes) {
    const Node& node = topology.node(id);
    if (!node.can.store || !node.can.copy)
      throw InputError(fmt::format("{} takes part in the collective, but can't {}", node.name,
                                   node.can.store ? "copy" : "store"));
    values.push_back(id.value);
  }
  return values;
}

} // namespace

EpochProblem epoch_problem(const Topology& topology, const Collective& collective,
                           const EpochSettings& settings) {
  Bytes largest{1};
  for (const Chunk& chunk : collective.chunks) {
    assert(!chunk.reduces);
    largest = std::max(largest, chunk.size);
  }
  EpochProblem problem;
  problem.network = epoch_network(topology, largest, settings);
  problem.chunks.reserve(collective.chunks.size());
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    TimedChunk chunk{keepers(topology, collective.sources(ChunkId{c})), {}};
    const auto wanted = keepers(topology, collective.destinations(ChunkId{c}));
    std::ranges::set_difference(wanted, chunk.sources, std::back_inserter(chunk.destinations));
    problem.chunks.push_back(std::move(chunk));
  }
  return problem;
}

std::optional<std::uint32_t> epochs_of(const EpochProblem& problem, const EpochPlan& plan) {
  const std::size_t nodes = problem.network.node_count();
  std::vector<Epoch> there(problem.chunks.size() * nodes, no_epoch); // [chunk * nodes + node]
  for (const EpochSend& send : plan) {
    const Lane& lane = problem.network.lane(send.lane);
    Epoch& first = there[send.chunk.value * nodes + lane.to];
    first = std::min(first, send.epoch + lane.delay);
  }
  Epoch last;
  for (std::size_t c = 0; c < problem.chunks.size(); ++c)
    for (const std::uint32_t destination : problem.chunks[c].destinations) {
      const Epoch first = there[c * nodes + destination];
      if (first == no_epoch) return {};
      last = std::max(last, first);
    }
  return last.value;
}

} // namespace tutti
