// Routes for all chunks of a collective at once, such that the highest load is low.
#pragma once

#include "sim/collective.hpp"
#include "sim/ids.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/work_limit.hpp"
#include "synth/tacos/route_search.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

struct RouteBalancing {
  std::uint64_t seed = 1;
  double path = 0.3; ///< see Pricing
  TreeShape shape;
  /// Paths by Routing::automatic whatever their load; trees are the cheapest for a chunk alone.
  bool fixed = false;
};

/// For every chunk the links of its transfers, one transfer after another in an order in which they
/// can happen. A transfer ends where a node stores.
class ChunkRoutes {
public:
  explicit ChunkRoutes(std::size_t chunks) : routes_(chunks) {}

  [[nodiscard]] std::span<const LinkId> links(ChunkId chunk) const {
    const Route& route = routes_[chunk.value];
    return {pool_.data() + route.begin, route.count};
  }
  /// Replaces the chunk's route; the transfers over the first `reductions` links reduce.
  void set(ChunkId chunk, std::span<const LinkId> links, std::size_t reductions = 0);

  /// Chunk by chunk in the given order.
  [[nodiscard]] Schedule schedule(const Topology& topology, std::span<const ChunkId> order) const;

private:
  struct Route {
    std::size_t begin = 0;
    std::uint32_t count = 0, reductions = 0;
  };
  void compact();

  std::vector<Route> routes_;
  std::vector<LinkId> pool_;
  std::size_t live_ = 0; // links in the pool that belong to a route
};

struct BalancedRoutes {
  ChunkRoutes routes;
  std::uint64_t work = 0; ///< links that were looked at
};

/// Each chunk is routed at prices that the others' loads make, again and again with prices that
/// grow ever steeper; at last those that cross the most loaded links, one by one. `orbit_of`
/// [link]:
/// links that each carry what is routed over any of them, as symmetry has it (LinkLoads); may be
/// empty. Nothing where the limit is reached before all have a route, or some can't have one.
[[nodiscard]] std::optional<BalancedRoutes>
balanced_routes(const Topology& topology, const Collective& collective, const TimeModel& model,
                const RouteBalancing& balancing, const WorkLimit& limit,
                std::span<const std::uint32_t> orbit_of = {});

} // namespace tutti
