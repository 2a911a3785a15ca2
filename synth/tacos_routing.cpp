#include "synth/tacos_routing.hpp"

#include "sim/bounds.hpp"
#include "synth/balanced_routes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
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

/// The first attempt is the one that does best in most cases; the others vary what it leaves open.
RouteBalancing variant(const SynthesisOptions& options, unsigned attempt) {
  constexpr std::array ways{0.3, 1.0, 0.05};
  constexpr std::array depth_weights{0.5, 1.0, 0.2};
  RouteBalancing balancing;
  balancing.seed = options.seed + attempt;
  if (attempt == 1) balancing.fixed = options.routing;
  balancing.way = ways[attempt % ways.size()];
  balancing.depth_weight = depth_weights[attempt % depth_weights.size()];
  return balancing;
}

} // namespace

std::optional<Timed> routed(const Topology& topology, const Collective& collective,
                            const SynthesisOptions& options, const WorkLimit& limit) {
  constexpr unsigned most_attempts = 24;
  constexpr std::uint64_t enough = 12'000'000; // links looked at, about a second
  constexpr std::uint64_t links_per_hop = 8;   // a hop scheduled takes as long as so many links
  const std::vector<ChunkId> order = rotating_order(topology, collective);
  std::optional<Timed> best;
  std::uint64_t work = 0, last = 0;
  Time bound;
  for (unsigned attempt = 0; attempt < most_attempts; ++attempt) {
    if (attempt > 0 && work + last > enough) break;
    const std::optional<BalancedRoutes> balanced =
        balanced_routes(topology, collective, options.model, variant(options, attempt), limit);
    if (!balanced || (best && limit.reached())) return best;
    const Schedule unordered = balanced->routes.schedule(topology, order);
    const std::uint64_t scheduling = links_per_hop * unordered.size();
    const unsigned effort = scheduling < enough / 16 ? 4 : 1;
    Timed timed = list_scheduled(topology, collective, unordered, options.model, {}, effort);
    if (!best || timed.makespan < best->makespan) best = std::move(timed);
    limit.report(best->schedule.size(), best->schedule.size(), best->makespan);
    last = balanced->work + effort * scheduling + 1000;
    work += last;
    if (work < enough && attempt == 0)
      bound = lower_bound(topology, collective, options.model).time;
    if (best->makespan <= bound) break;
  }
  return best;
}

} // namespace tutti
