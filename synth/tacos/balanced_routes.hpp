// Routes for all chunks at once that keep the highest load low.
#pragma once

#include "sim/collective.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/work_limit.hpp"
#include "synth/tacos/chunk_routes.hpp"
#include "synth/tacos/link_loads.hpp"
#include "synth/tacos/route_search.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tutti {

struct RouteBalancing {
  std::uint64_t seed = 1;
  double path = 0.3; ///< see Pricing
  TreeShape shape;
  /// Paths by Routing::automatic whatever their load; trees are the cheapest for a chunk alone.
  bool fixed = false;
  std::uint64_t work = 10'000'000; ///< links to be looked at, about; every chunk is routed once
};

struct BalancedRoutes {
  ChunkRoutes routes;
  std::uint64_t work = 0; ///< links that were looked at
};

/// Each chunk is routed at prices that the others' loads make, again and again with prices that
/// grow ever steeper; at last those that cross the most loaded links, one by one.
/// Nothing where the limit is reached before all have a route, or some can't have one.
[[nodiscard]] std::optional<BalancedRoutes>
balanced_routes(const Topology& topology, const Collective& collective, const TimeModel& model,
                const RouteBalancing& balancing, const WorkLimit& limit);

} // namespace tutti
