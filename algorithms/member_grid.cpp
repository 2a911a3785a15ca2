// The values that members have along each dimension are collected; the group is a grid if and only
// if there are as many members as combinations of these values, since no two NPUs share their
// coordinates.

#include "algorithms/member_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tutti {

namespace {

/// The values that members have along a dimension, ascending.
std::vector<int> values_along(const Topology& topology, std::span<const NodeId> group,
                              std::size_t dimension) {
  std::vector<int> values;
  for (const NodeId npu : group) values.push_back(topology.coordinate(npu)[dimension]);
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::string not_filled(const Topology& topology, const MemberGrid& grid, std::size_t members) {
  std::vector<std::size_t> extents;
  for (const MemberGrid::Axis& axis : grid.axes) extents.push_back(axis.extent);
  return fmt::format("the {} NPUs don't fill the grid that they span in {} ({})", members,
                     topology.name(), fmt::join(extents, "x"));
}

} // namespace

MemberGridSearch find_member_grid(const Topology& topology, std::span<const NodeId> group) {
  MemberGridSearch search;
  MemberGrid& grid = search.grid;
  if (topology.shape().empty()) {
    search.obstacle = fmt::format("{} has no coordinates", topology.name());
    return search;
  }
  std::vector<std::vector<int>> values; // of each axis
  std::size_t places = 1;
  for (std::size_t d = 0; d < topology.shape().size(); ++d) {
    std::vector<int> found = values_along(topology, group, d);
    if (found.size() < 2) continue;
    grid.axes.push_back({d, found.size(), places});
    places = std::min(places * found.size(), group.size() + 1); // more needn't be distinguished
    values.push_back(std::move(found));
  }
  if (places != group.size()) {
    search.obstacle = not_filled(topology, grid, group.size());
    return search;
  }
  // No two NPUs share their coordinates, so that as many members as places fill them all.
  grid.rank_at.resize(places);
  for (Rank rank = 0; rank < group.size(); ++rank) {
    std::size_t place = 0;
    for (std::size_t a = 0; a < grid.axes.size(); ++a) {
      const int value = topology.coordinate(group[rank])[grid.axes[a].dimension];
      const auto index = std::ranges::lower_bound(values[a], value) - values[a].begin();
      place += static_cast<std::size_t>(index) * grid.axes[a].stride;
    }
    grid.rank_at[place] = rank;
  }
  return search;
}

} // namespace tutti
