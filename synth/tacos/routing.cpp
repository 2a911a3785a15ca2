// Routes say what each link carries, list scheduling when. What balances loads best need not be
// what schedules best, so some weights of routing are varied, and the best schedule of all attempts
// counts; they end at a lower bound, after 16 in vain, or after about a second's work (counted in
// links looked at, so that results don't depend on the machine).

#include "synth/tacos/routing.hpp"

#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/tacos/route_balancing.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// Chunks in the order of the rotation that keeps receivers apart: first those for the source's
/// next neighbour by id, then those for the second next, ... Ties of urgency are broken so.
std::vector<ChunkId> rotating_order(const Topology& topology, const Collective& collective) {
  const std::uint32_t nodes = topology.node_count();
  std::vector<std::pair<std::uint32_t, ChunkId>> keyed;
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    const auto held = collective.sources(ChunkId{c}), wanted = collective.destinations(ChunkId{c});
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
  constexpr std::array paths{0.3, 1.0, 0.05};
  constexpr std::array depth_weights{0.5, 1.0, 0.2};
  RouteBalancing balancing;
  balancing.seed = options.seed + attempt;
  balancing.fixed = attempt == 1;
  balancing.path = paths[attempt % paths.size()];
  balancing.shape.depth_weight = depth_weights[attempt % depth_weights.size()];
  balancing.shape.queue_weight = attempt % 2 == 0 ? 0 : balancing.shape.depth_weight;
  return balancing;
}

} // namespace

std::optional<Timed> routed(const Topology& topology, const Collective& collective,
                            const SynthesisOptions& options, const WorkLimit& limit) {
  constexpr unsigned most_attempts = 48, most_in_vain = 16;
  constexpr std::uint64_t enough = 12'000'000; // links looked at, about a second
  constexpr std::uint64_t links_per_hop = 8;   // a hop scheduled takes as long as so many links
  TimeModel model = options.model;
  model.discipline = Discipline::fifo; // what fluid makes of the order can't be planned
  const std::vector<ChunkId> order = rotating_order(topology, collective);

  std::optional<Timed> best;
  Time bound;
  std::uint64_t work = 0, last = 0;
  unsigned in_vain = 0;
  for (unsigned attempt = 0; attempt < most_attempts && in_vain < most_in_vain; ++attempt) {
    if (attempt > 0 && work + last > enough) break;
    const std::optional<BalancedRoutes> balanced =
        balanced_routes(topology, collective, model, variant(options, attempt), limit);
    if (limit.reached() || (!balanced && attempt == 0)) break;
    if (!balanced) continue;
    const Schedule unordered = balanced->routes.schedule(topology, order);
    const std::uint64_t scheduling = links_per_hop * unordered.size();
    const unsigned effort = scheduling < enough / 16 ? 4 : scheduling < 2 * enough ? 2 : 1;
    std::optional<Timed> timed;
    try {
      timed = list_scheduled(topology, collective, unordered, model, {.effort = effort}, limit);
    } catch (const LimitReached&) {
      break;
    }
    last = balanced->work + effort * scheduling + 1000;
    work += last;
    if (!best && work < enough)
      bound = lower_bound(topology, collective, model, Chunking::given, BoundEffort::least).time;
    ++in_vain;
    if (!best || timed->makespan < best->makespan) {
      best = std::move(*timed);
      in_vain = 0;
    }
    limit.report(best->schedule.size(), best->schedule.size(), best->makespan);
    if (best->makespan <= bound) break;
  }
  return best;
}

} // namespace tutti
