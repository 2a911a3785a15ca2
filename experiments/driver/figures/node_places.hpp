// Where the nodes of a network stand in a picture: points to the right and down.
#pragma once

#include "sim/topology.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

struct Place {
  double x = 0, y = 0;
};

/// Whether there are coordinates of one or two dimensions, no switches, and links between
/// neighbours only: a longer one would run through those between.
[[nodiscard]] bool is_small_mesh(const Topology& topology);

/// At their coordinates. Pre: is_small_mesh().
[[nodiscard]] std::vector<Place> mesh_places(const Topology& topology, double pitch);

/// NPUs on a circle around (0, 0); switches and memories on one of half its radius, in their order.
[[nodiscard]] std::vector<Place> circle_places(const Topology& topology, double pitch);

/// NPUs on a circle around (0, 0); within it switches and memories near the NPUs that they join;
/// innermost those that join NPUs all around.
[[nodiscard]] std::vector<Place> nested_places(const Topology& topology, double pitch);

/// Servers side by side, or around the middle, each a circle of NPUs with its switches and memories
/// within it; what belongs to none stands between them. `server_of` [node]: from 0, or no_server.
/// Pre: two servers or more, each with an NPU.
inline constexpr std::uint32_t no_server = UINT32_MAX;
[[nodiscard]] std::vector<Place>
server_places(const Topology& topology, const std::vector<std::uint32_t>& server_of, double pitch);

} // namespace tutti
