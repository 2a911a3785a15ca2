#include "synth/tacos_routing.hpp"

#include "sim/random.hpp"
#include "synth/balanced_routes.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// Chunks in the order of the rotation that keeps receivers apart: first those for the holder's
/// next neighbour by id, then those for the second next, ... Ties of urgency are broken so.
std::vector<ChunkId> rotating_order(const Topology& topology, const Collective& collective) {
  const std::uint32_t nodes = topology.node_count();
  std::vector<std::pair<std::uint32_t, ChunkId>> keyed;
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    const auto held = collective.held_by(ChunkId{c}), wanted = collective.wanted_by(ChunkId{c});
    const std::uint32_t turn = held.empty() || wanted.empty()
                                   ? 0
                                   : (wanted.front().value + nodes - held.front().value) % nodes;
    keyed.emplace_back(turn, c);
  }
  std::ranges::sort(keyed);
  std::vector<ChunkId> order;
  for (const auto& [turn, chunk] : keyed) order.push_back(chunk);
  return order;
}

} // namespace

std::optional<Timed> routed(const Topology& topology, const Collective& collective,
                            const SynthesisOptions& options, const WorkLimit& limit) {
  const std::vector<ChunkId> order = rotating_order(topology, collective);
  std::optional<Timed> best;
  RouteBalancing balancing;
  balancing.seed = options.seed;
  const std::optional<ChunkRoutes> routes =
      balanced_routes(topology, collective, options.model, balancing, limit);
  if (!routes) return best;
  best = list_scheduled(topology, collective, routes->schedule(topology, order), options.model);
  return best;
}

} // namespace tutti
