// An All-to-All's demands need no vertices in the graph of automorphisms but one for who takes
// part: its group is the network's own. Orbits of pairs are found by joining each pair with its
// images under the generators.
#include "synth/teccl/flows/orbits.hpp"

#include "sim/graphs/disjoint_sets.hpp"
#include "sim/limit_watch.hpp"
#include "synth/teccl/symmetry.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <utility>

namespace tutti {

namespace {

/// Chunks for each pair, where every source sends the same to every other source and nothing else:
/// then nothing of the demands needs to stand in a graph but who takes part.
bool is_among_all(std::span<const EpochSource> sources) {
  std::set<std::size_t> counts;
  for (const EpochSource& source : sources) {
    if (source.demands.size() + 1 != sources.size()) return false;
    auto other = sources.begin();
    for (const EpochDemand& demand : source.demands) {
      if (other->node == source.node) ++other;
      if (other->node != demand.destination) return false;
      counts.insert(demand.chunks.size());
      ++other;
    }
  }
  return counts.size() == 1;
}

/// Orbits of pairs of a source and another point, `points` for each source.
std::vector<std::uint32_t> pair_orbits(std::span<const EpochSource> sources,
                                       std::span<const ChunkAutomorphism> moves,
                                       Permutation ChunkAutomorphism::*other, std::size_t points,
                                       std::size_t node_count, const WorkLimit& limit) {
  const auto not_one = static_cast<std::uint32_t>(sources.size());
  std::vector<std::uint32_t> index(node_count, not_one);
  for (std::uint32_t s = 0; s < sources.size(); ++s) index[sources[s].node] = s;
  DisjointSets pairs(sources.size() * points);
  LimitWatch watch(limit);
  for (const ChunkAutomorphism& move : moves)
    for (std::size_t s = 0; s < sources.size(); ++s) {
      watch.require();
      const std::size_t image = index[move.nodes[sources[s].node]];
      assert(image != not_one);
      for (std::size_t p = 0; p < points; ++p)
        pairs.join(static_cast<std::uint32_t>(s * points + p),
                   static_cast<std::uint32_t>(image * points + (move.*other)[p]));
    }
  return std::move(pairs).least();
}

std::vector<std::uint32_t> single_orbits(std::span<const ChunkAutomorphism> moves,
                                         Permutation ChunkAutomorphism::*which,
                                         std::size_t points) {
  std::vector<Permutation> permutations;
  for (const ChunkAutomorphism& move : moves) permutations.push_back(move.*which);
  return orbits(permutations, points);
}

} // namespace

std::vector<EpochSource> epoch_sources(const EpochProblem& problem) {
  std::map<std::uint32_t, std::map<std::uint32_t, std::vector<std::uint32_t>>> chunks_between;
  for (std::uint32_t c = 0; c < problem.chunks.size(); ++c) {
    const TimedChunk& chunk = problem.chunks[c];
    if (chunk.destinations.empty()) continue;
    assert(chunk.sources.size() == 1 && chunk.destinations.size() == 1);
    chunks_between[chunk.sources.front()][chunk.destinations.front()].push_back(c);
  }
  std::vector<EpochSource> sources;
  for (auto& [node, by_destination] : chunks_between) {
    EpochSource& source = sources.emplace_back();
    source.node = node;
    for (auto& [destination, chunks] : by_destination)
      source.demands.push_back({destination, std::move(chunks)});
  }
  return sources;
}

std::vector<ChunkAutomorphism> epoch_moves(const EpochProblem& problem,
                                           std::span<const EpochSource> sources) {
  ChunkTraffic traffic = traffic_of(problem);
  if (is_among_all(sources)) {
    TimedChunk everyone;
    for (const EpochSource& source : sources) everyone.sources.push_back(source.node);
    traffic.chunks = {everyone};
  } else {
    std::erase_if(traffic.chunks, [](const auto& chunk) { return chunk.destinations.empty(); });
  }
  std::vector<ChunkAutomorphism> moves = automorphisms(traffic);
  std::erase_if(moves, [](const ChunkAutomorphism& move) {
    return std::ranges::is_sorted(move.nodes) && std::ranges::is_sorted(move.lanes);
  });
  return moves;
}

EpochFlowOrbits epoch_flow_orbits(const EpochNetwork& network, std::span<const EpochSource> sources,
                                  std::span<const ChunkAutomorphism> moves,
                                  const WorkLimit& limit) {
  return {pair_orbits(sources, moves, &ChunkAutomorphism::lanes, network.lanes.size(),
                      network.node_count(), limit),
          pair_orbits(sources, moves, &ChunkAutomorphism::nodes, network.node_count(),
                      network.node_count(), limit),
          single_orbits(moves, &ChunkAutomorphism::nodes, network.node_count()),
          single_orbits(moves, &ChunkAutomorphism::limits, network.limits.size())};
}

FlowReach flow_reach(const EpochNetwork& network, const EpochSource& source) {
  std::vector<std::uint32_t> destinations;
  for (const EpochDemand& demand : source.demands) destinations.push_back(demand.destination);
  FlowReach reach{network.distances_from({source.node}), network.distances_to(destinations),
                  std::vector<std::uint32_t>(network.node_count(), unreachable)};
  for (const Lane& lane : network.lanes) {
    std::uint32_t& onward = reach.onward[lane.from];
    if (lane.to != source.node)
      onward = std::min(onward, epochs_plus(reach.to_destination[lane.to], lane.delay));
  }
  return reach;
}

} // namespace tutti
