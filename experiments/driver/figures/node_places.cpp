// Positions only, in points around (0, 0); whoever draws moves and frames them. Networks with
// coordinates keep them; others are put on circles, switches nearer to the middle the more of the
// network they join.
#include "experiments/driver/figures/node_places.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numbers>
#include <span>
#include <utility>

namespace tutti {

bool is_small_mesh(const Topology& topology) {
  if (topology.shape().empty() || topology.shape().size() > 2 ||
      topology.node_count() != topology.npu_count())
    return false;
  return std::all_of(topology.links().begin(), topology.links().end(), [&](const Link& link) {
    const auto from = topology.coordinate(link.from), to = topology.coordinate(link.to);
    int distance = 0;
    for (std::size_t d = 0; d < from.size(); ++d) distance += std::abs(from[d] - to[d]);
    return distance == 1;
  });
}

std::vector<Place> mesh_places(const Topology& topology, double pitch) {
  std::vector<Place> places;
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    const auto at = topology.coordinate(NodeId{n});
    places.push_back({at[0] * pitch, at.size() > 1 ? at[1] * pitch : 0});
  }
  return places;
}

namespace {

double circle_radius(const Topology& topology, double pitch) {
  return std::max(pitch, pitch * topology.npu_count() / (2 * std::numbers::pi));
}

/// `turn` 0 is at the top, 1/4 to the right.
Place on_circle(double radius, double turn) {
  const double angle = 2 * std::numbers::pi * turn;
  return {radius * std::sin(angle), -radius * std::cos(angle)};
}

/// 0 .. 1; see on_circle().
double turn_of(const Place& place) {
  const double turn = std::atan2(place.x, -place.y) / (2 * std::numbers::pi);
  return turn < 0 ? turn + 1 : turn;
}

/// Every switch and memory in the middle of its neighbours, again and again.
void relax(const Topology& topology, std::vector<Place>& places) {
  constexpr int rounds = 30;
  for (int round = 0; round < rounds; ++round)
    for (std::uint32_t n = topology.npu_count(); n < topology.node_count(); ++n) {
      Place sum;
      const std::span<const LinkId> links = topology.out_links(NodeId{n});
      for (const LinkId link : links) {
        const Place& neighbour = places[topology.link(link).to.value];
        sum = {sum.x + neighbour.x, sum.y + neighbour.y};
      }
      const double count = std::max<double>(1, static_cast<double>(links.size()));
      places[n] = {sum.x / count, sum.y / count};
    }
}

} // namespace

std::vector<Place> circle_places(const Topology& topology, double pitch) {
  const std::uint32_t npus = topology.npu_count(), others = topology.node_count() - npus;
  const double radius = circle_radius(topology, pitch);
  std::vector<Place> places;
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    const bool npu = n < npus;
    const double turn = npu ? static_cast<double>(n) / npus : (n - npus + 0.5) / others;
    places.push_back(on_circle(npu ? radius : others == 1 ? 0 : radius / 2, turn));
  }
  return places;
}

std::vector<Place> nested_places(const Topology& topology, double pitch) {
  const std::uint32_t npus = topology.npu_count();
  const double radius = circle_radius(topology, pitch);
  std::vector<Place> places(topology.node_count());
  for (std::uint32_t n = 0; n < npus; ++n)
    places[n] = on_circle(radius, static_cast<double>(n) / npus);
  relax(topology, places);

  std::vector<std::pair<double, std::uint32_t>> local, global; // turn, node
  for (std::uint32_t n = npus; n < topology.node_count(); ++n) {
    const bool near_the_middle = std::hypot(places[n].x, places[n].y) < 0.2 * radius;
    (near_the_middle ? global : local).emplace_back(turn_of(places[n]), n);
  }
  std::sort(local.begin(), local.end());
  for (std::size_t i = 0; i < local.size(); ++i) {
    const auto turn = (static_cast<double>(i) + 0.5) / static_cast<double>(local.size());
    places[local[i].second] = on_circle(0.68 * radius, turn);
  }
  for (std::size_t i = 0; i < global.size(); ++i) // in their order: where they lie means little
    places[global[i].second] =
        on_circle(global.size() == 1 ? 0 : 0.32 * radius,
                  (static_cast<double>(i) + 0.5) / static_cast<double>(global.size()));
  return places;
}

std::vector<Place> server_places(const Topology& topology,
                                 const std::vector<std::uint32_t>& server_of, double pitch) {
  const std::uint32_t servers = [&] {
    std::uint32_t most = 0;
    for (const std::uint32_t server : server_of)
      if (server != no_server) most = std::max(most, server + 1);
    return most;
  }();
  std::vector<std::vector<std::uint32_t>> npus(servers), others(servers);
  std::vector<std::uint32_t> between;
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    if (server_of[n] == no_server)
      between.push_back(n);
    else
      (n < topology.npu_count() ? npus : others)[server_of[n]].push_back(n);
  }
  double largest = 0; // radius
  for (const std::vector<std::uint32_t>& some : npus)
    largest =
        std::max(largest, 1.7 * pitch * static_cast<double>(some.size()) / (2 * std::numbers::pi));
  largest = std::max(largest, pitch);
  const auto around = [](Place centre, double radius, std::size_t i, std::size_t count) {
    const Place at = on_circle(count == 1 ? 0 : radius,
                               (static_cast<double>(i) + 0.5) / static_cast<double>(count));
    return Place{centre.x + at.x, centre.y + at.y};
  };
  // two stand left and right of a column, more of them around a circle
  const auto column = 0.5 * pitch * static_cast<double>(std::max<std::size_t>(between.size(), 1));
  const double to_centre = servers == 2
                               ? largest + 1.5 * pitch
                               : std::max((largest + pitch) / std::sin(std::numbers::pi / servers),
                                          largest + pitch + column / std::numbers::pi);
  std::vector<Place> places(topology.node_count());
  for (std::uint32_t s = 0; s < servers; ++s) {
    const Place centre = servers == 2 ? Place{s == 0 ? -to_centre : to_centre, 0}
                                      : on_circle(to_centre, static_cast<double>(s) / servers);
    for (std::size_t i = 0; i < npus[s].size(); ++i)
      places[npus[s][i]] = around(centre, largest, i, npus[s].size());
    for (std::size_t i = 0; i < others[s].size(); ++i)
      places[others[s][i]] = around(centre, 0.6 * largest, i, others[s].size());
  }
  for (std::size_t i = 0; i < between.size(); ++i)
    places[between[i]] = servers == 2
                             ? Place{0, pitch * (static_cast<double>(i) -
                                                 0.5 * static_cast<double>(between.size() - 1))}
                             : around({}, column / std::numbers::pi, i, between.size());
  return places;
}

} // namespace tutti
