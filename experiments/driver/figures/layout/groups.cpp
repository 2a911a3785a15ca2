// DragonFlies (Kim et al. 2008) and what is built like them: groups of NPUs, each fully connected,
// and few links between any two. The NPUs of all groups stand on one circle, a gap between groups:
// links between groups are chords, links of a group are arcs outside of the circle, and so nothing
// passes over a third node. Groups are found by their triangles, since two NPUs of a group have all
// its others as common neighbours.
#include "experiments/driver/figures/layout/arrangement.hpp"
#include "experiments/driver/figures/layout/neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <optional>
#include <utility>

namespace tutti::layouts {

namespace {

bool are_all_linked(const Neighbours& next, const std::vector<std::uint32_t>& group,
                    std::size_t groups) {
  std::vector<bool> linked(groups * groups);
  for (std::uint32_t node = 0; node < next.count(); ++node)
    for (const Neighbour& neighbour : next.of(node))
      linked[group[node] * groups + group[neighbour.node]] = true;
  return std::ranges::all_of(linked, [](bool each) { return each; });
}

/// [group]: its NPUs, each group linked to every other; empty where there are no three groups of as
/// many NPUs, three or more.
std::vector<std::vector<std::uint32_t>> groups_of(const Neighbours& next) {
  if (next.pairs_of_neighbours() > most_pairs || next.degree(0) + 1 == next.count()) return {};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> common;
  std::size_t most = 0;
  for (std::uint32_t a = 0; a < next.count(); ++a)
    for (const Neighbour& b : next.of(a))
      most = std::max(most, common[{a, b.node}] = next.common(a, b.node));
  for (std::size_t least = 1; least <= most; ++least) {
    const std::vector<std::uint32_t> group = parts_joined(next, [&](auto a, auto b) {
      return common.at({a, b}) >= least;
    });
    std::vector<std::vector<std::uint32_t>> groups(*std::ranges::max_element(group) + 1);
    for (std::uint32_t node = 0; node < next.count(); ++node) groups[group[node]].push_back(node);
    if (groups.size() < 3) continue;
    if (are_cliques(next, groups))
      return are_all_linked(next, group, groups.size()) ? groups
                                                        : std::vector<std::vector<std::uint32_t>>{};
    if (groups[0].size() < 3) return {};
  }
  return {};
}

/// Orders the NPUs of each group so that few links to other groups cross: by how far around the
/// circle these lead on average, the farthest first.
void order_by_far_ends(const Neighbours& next, std::vector<std::vector<std::uint32_t>>& groups) {
  std::vector<std::size_t> group_of(next.count());
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const std::uint32_t node : groups[g]) group_of[node] = g;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto steps = [&](std::uint32_t node) { // clockwise, on average
      double sum = 0;
      std::size_t count = 0;
      for (const Neighbour& neighbour : next.of(node))
        if (group_of[neighbour.node] != g) {
          sum +=
              static_cast<double>((group_of[neighbour.node] + groups.size() - g) % groups.size());
          ++count;
        }
      return count == 0 ? 0.5 * static_cast<double>(groups.size())
                        : sum / static_cast<double>(count);
    };
    std::ranges::stable_sort(groups[g], std::greater<>(), steps);
  }
}

} // namespace

std::optional<Arrangement> as_groups(const Topology& topology) {
  constexpr std::uint32_t most_nodes = 1100;
  if (topology.node_count() != topology.npu_count() || topology.node_count() < 9 ||
      topology.node_count() > most_nodes)
    return std::nullopt;
  const Neighbours next(topology);
  std::vector<std::vector<std::uint32_t>> groups = groups_of(next);
  if (groups.empty()) return std::nullopt;
  order_by_far_ends(next, groups);
  Arrangement result = blank(topology, "groups");
  const std::size_t size = groups[0].size(), count = groups.size();
  const double slots = static_cast<double>(count) * (static_cast<double>(size) + 1.2);
  const double pitch = std::clamp(1340 / slots, 4.4, 28.0);
  const double radius = std::max(70.0, slots * pitch / (2 * std::numbers::pi));
  const double disc = std::clamp(0.33 * pitch, 1.6, 9.0);
  const double arc = std::clamp(0.1 * radius + 1.1 * pitch * static_cast<double>(size) / 6, 18.0,
                                0.3 * radius); // of the longest link of a group
  const auto turn = [&](std::size_t g, double i) {
    return (static_cast<double>(g) * (static_cast<double>(size) + 1.2) + i -
            0.5 * (static_cast<double>(size) - 1)) /
           slots;
  };
  std::vector<std::size_t> slot(topology.node_count());
  for (std::size_t g = 0; g < count; ++g) {
    for (std::size_t i = 0; i < size; ++i) {
      slot[groups[g][i]] = i;
      result.at[groups[g][i]] = on_circle(radius, turn(g, static_cast<double>(i)));
    }
    result.boxes.push_back(sector(radius - disc - 5, radius + arc + disc + 3, turn(g, -0.75),
                                  turn(g, static_cast<double>(size) - 0.25),
                                  fmt::format("group {}", g)));
    result.boxes.back().nodes = groups[g];
    std::ranges::sort(result.boxes.back().nodes);
  }
  result.bends.resize(topology.link_count());
  std::vector<std::size_t> group_of(topology.node_count());
  for (std::size_t g = 0; g < count; ++g)
    for (const std::uint32_t node : groups[g]) group_of[node] = g;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Link& link = topology.link(LinkId{l});
    if (group_of[link.from.value] != group_of[link.to.value]) continue;
    const Position middle = (result.at[link.from.value] + result.at[link.to.value]) * 0.5;
    const std::size_t a = slot[link.from.value], b = slot[link.to.value];
    const auto steps = static_cast<double>(a > b ? a - b : b - a);
    const double beyond = radius + arc * steps / (static_cast<double>(size) - 1);
    result.bends[l] = {LinkCourse::bent, middle * (beyond / length(middle)) - middle};
  }
  result.radius.assign(topology.node_count(), disc);
  result.lane = std::clamp(0.12 * pitch, 0.9, 3.2);
  result.font = disc > 7.5 ? 8.5 : 7.5;
  if (disc < 5) result.labels.assign(topology.node_count(), {});
  return result;
}

} // namespace tutti::layouts
