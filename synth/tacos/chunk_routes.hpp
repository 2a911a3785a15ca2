// The links that each chunk crosses, and the schedule that this makes.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

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

} // namespace tutti
