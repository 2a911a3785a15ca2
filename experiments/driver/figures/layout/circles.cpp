// Small networks of NPUs stand on a circle, where no link can pass over a third node: around their
// one switch, or in the order in which strong links are short (the octagon of double NVLinks that
// papers draw of a DGX-1). So do larger ones in which all nodes are alike (Jellyfish, Slim Fly): no
// order is better than that of their numbers, in blocks in which a number is found.
#include "experiments/driver/figures/layout/arrangement.hpp"
#include "experiments/driver/figures/layout/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

namespace tutti::layouts {

std::optional<Arrangement> as_star(const Topology& topology) {
  const std::uint32_t npus = topology.npu_count();
  constexpr std::uint32_t most_around = 48;
  if (topology.node_count() != npus + 1 || npus < 2 || npus > most_around) return std::nullopt;
  const Neighbours next(topology);
  for (std::uint32_t n = 0; n < npus; ++n)
    if (next.degree(n) != 1 || next.of(n)[0].node != npus) return std::nullopt;
  Arrangement star = blank(topology, "star");
  const double radius = std::max(64.0, 27.0 * npus / (2 * std::numbers::pi));
  for (std::uint32_t n = 0; n < npus; ++n)
    star.at[n] = on_circle(radius, static_cast<double>(n) / npus);
  star.radius[npus] =
      std::max(13.0, std::min(label_width(star.labels[npus].text, 7) / 1.9, 0.4 * radius));
  star.labels[npus].sides = {Side::inside, Side::below, Side::above, Side::right, Side::left};
  return star;
}

std::optional<Arrangement> as_circle(const Topology& topology) {
  const std::uint32_t n = topology.node_count();
  const Neighbours next(topology);
  bool complete = true;
  for (std::uint32_t node = 0; node < n; ++node) complete = complete && next.degree(node) == n - 1;
  constexpr std::uint32_t most_nodes = 16, most_complete = 96;
  if (n > (complete ? most_complete : most_nodes) || n != topology.npu_count()) return std::nullopt;
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  if (!complete) {
    std::vector<double> bandwidth(std::size_t{n} * n);
    for (std::uint32_t node = 0; node < n; ++node)
      for (const Neighbour& neighbour : next.of(node))
        bandwidth[std::size_t{node} * n + neighbour.node] = neighbour.bandwidth;
    order = circular_order(bandwidth, n);
  }
  Arrangement circle = blank(topology, "circle");
  const double pitch = n <= 8 ? 62 : n <= 16 ? 46 : std::clamp(1600.0 / n, 16.5, 40.0);
  const double radius = n == 1 ? 0 : std::max(40.0, pitch * n / (2 * std::numbers::pi));
  for (std::uint32_t i = 0; i < n; ++i)
    circle.at[order[i]] = on_circle(radius, static_cast<double>(i) / n);
  circle.radius.assign(n, std::clamp(0.27 * pitch, 4.2, 10.5));
  circle.lane = complete && n > 16 ? std::clamp(30.0 / n, 0.6, 2.0) : 4;
  return circle;
}

std::optional<Arrangement> as_blocks(const Topology& topology) {
  const std::uint32_t n = topology.node_count();
  constexpr std::uint32_t least_nodes = 17, most_nodes = 128, most_dense = 48;
  if (n < least_nodes || n > most_nodes || n != topology.npu_count()) return std::nullopt;
  const Neighbours next(topology);
  std::size_t ends = 0;
  bool is_regular = true;
  for (std::uint32_t node = 0; node < n; ++node) {
    ends += next.degree(node);
    is_regular = is_regular && next.degree(node) == next.degree(0);
  }
  const bool is_dense = n <= most_dense && 4 * ends > std::size_t{n} * n;
  if (!is_dense && (!is_regular || next.degree(0) < 4)) return std::nullopt;
  std::uint32_t block = n; // the divisor next to the root: as many blocks as nodes in one
  const auto unevenness = [n](double size) { return std::abs(std::log(size * size / n)); };
  for (std::uint32_t size = 2; size < n; ++size)
    if (n % size == 0 && unevenness(size) < unevenness(block)) block = size;
  constexpr double gap = 0.8; // in nodes
  const double slots = n + (block < n ? gap * (n / block) : 0);
  Arrangement circle = blank(topology, "blocks");
  const double pitch = std::clamp(1500 / slots, 13.0, 40.0);
  for (std::uint32_t i = 0; i < n; ++i)
    circle.at[i] =
        on_circle(pitch * slots / (2 * std::numbers::pi), (i + gap * (i / block)) / slots);
  circle.radius.assign(n, std::clamp(0.4 * pitch, 4.2, 10.5));
  circle.lane = std::clamp(60.0 / static_cast<double>(next.degree(0) + 8), 0.6, 3.6);
  return circle;
}

Arrangement all_around(const Topology& topology) {
  Arrangement result = blank(topology, "around");
  const std::uint32_t npus = topology.npu_count(), others = topology.node_count() - npus;
  const double radius = std::max(60.0, 40.0 * npus / (2 * std::numbers::pi));
  for (std::uint32_t n = 0; n < topology.node_count(); ++n)
    result.at[n] = n < npus ? on_circle(radius, static_cast<double>(n) / npus)
                            : on_circle(others == 1 ? 0 : radius / 2, (n - npus + 0.5) / others);
  return result;
}

} // namespace tutti::layouts
