// Rooted trees over the ranks of a process group.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// A rooted tree over 0 .. n-1.
struct RankTree {
  static constexpr std::uint32_t no_parent = UINT32_MAX;
  std::uint32_t root = 0;
  std::vector<std::uint32_t> parent; ///< no_parent for the root
  std::vector<std::uint32_t> depth;  ///< links to the root
  std::vector<std::uint32_t> height; ///< links to the farthest rank below

  [[nodiscard]] bool is_leaf(std::uint32_t rank) const { return height[rank] == 0; }
};

/// Fills root, depth and height. Pre: one rank has no parent, from all others it is reached.
/// Cost: O(n * height).
[[nodiscard]] RankTree rank_tree(std::vector<std::uint32_t> parent);

/// The tree whose rank renamed[v] stands where v stands in `tree`. Pre: a permutation.
[[nodiscard]] RankTree relabelled(const RankTree& tree, std::span<const std::uint32_t> renamed);

} // namespace tutti
