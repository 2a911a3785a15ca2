// Depths and heights follow from walking from each rank towards the root: O(n * height), small next
// to the schedule that is made from the tree.

#include "algorithms/rank_tree.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

RankTree rank_tree(std::vector<std::uint32_t> parent) {
  const auto n = static_cast<std::uint32_t>(parent.size());
  RankTree tree{0, std::move(parent), std::vector<std::uint32_t>(n), std::vector<std::uint32_t>(n)};
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    if (tree.parent[rank] == RankTree::no_parent) tree.root = rank;
    for (std::uint32_t up = rank; tree.parent[up] != RankTree::no_parent;) {
      up = tree.parent[up];
      tree.height[up] = std::max(tree.height[up], ++tree.depth[rank]);
    }
  }
  return tree;
}

RankTree relabelled(const RankTree& tree, std::span<const std::uint32_t> renamed) {
  std::vector<std::uint32_t> parent(tree.parent.size(), RankTree::no_parent);
  for (std::uint32_t v = 0; v < parent.size(); ++v)
    if (v != tree.root) parent[renamed[v]] = renamed[tree.parent[v]];
  return rank_tree(std::move(parent));
}

} // namespace tutti
