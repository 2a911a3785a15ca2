// C-Cube: a double binary tree in which a chunk is broadcast as soon as it is reduced, while others
// are still on their way up; both trees laid on direct links of their own, so that neither slows
// the other. Its paper lays them out by hand for the DGX-1's NVLinks, here a search does. A link of
// a tree is used up and down, and an NPU uses four at most: with three in one tree it is a leaf of
// the other.
// Where no such place is found, the trees are routed in NPU-id order, as those of `dbt`.
// Source: Cho, Son, Kim 2023 (HPCA, "Logical/Physical Topology-Aware Collective Communication in
// Deep Learning Training").
// Cost, c chunks: 2 (n - 1) c sends in about c / 2 + 2 log2(n) steps. The search: at most 10^6
// places tried, for up to 64 NPUs.

#include "algorithms/double_binary_tree.hpp"
#include "algorithms/list.hpp"
#include "algorithms/tree_placement.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace tutti {

namespace {

/// The search takes time exponential in the number of NPUs, and its memory grows with the square.
constexpr std::size_t most_placed = 64;

} // namespace

Outcome ccube(const Topology& topology, const Collective& collective,
              const SynthesisOptions& options) {
  RoutedSchedule schedule(topology, collective, options);
  const CollectivePart& part = schedule.part();
  std::array<RankTree, 2> trees = double_tree_for(part);
  TreePlacement placement;
  if (part.group.size() <= most_placed)
    placement = place_trees(topology, part.group, trees, part.kind != CollectiveKind::all_reduce);
  const bool placed = placement.found;
  for (std::size_t t = 0; placed && t < trees.size(); ++t)
    trees[t] = relabelled(trees[t], placement.at[t]);
  send_along_two_trees(schedule, trees, [&](std::size_t t, Rank from, Rank to) {
    if (!placed) return schedule.path(from, to, static_cast<std::uint32_t>(t));
    const bool up = trees[t].parent[from] == to;
    return PathId{(up ? placement.up[t][from] : placement.down[t][to]).value};
  });
  Outcome outcome = std::move(schedule).outcome();
  outcome.facts = {{"trees_on_direct_links", placed ? 2 : 0}};
  return outcome;
}

} // namespace tutti
