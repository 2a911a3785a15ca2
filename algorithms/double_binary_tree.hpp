// The two complementary binary trees of double_binary_tree.cpp.
#pragma once

#include <array>
#include <cstdint>
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

/// NCCL's in-order tree: rank 0 is the root and has one child, odd ranks are leaves. Pre: n >= 1.
[[nodiscard]] RankTree in_order_tree(std::uint32_t n);

/// For All-Reduce: the in-order tree, and the same mirrored (even n) or shifted by one rank (odd
/// n). Even n: every rank is a leaf in at least one of them.
[[nodiscard]] std::array<RankTree, 2> double_tree(std::uint32_t n);

/// For Broadcast and Reduce: `root` is the root of both, all others are an inner rank in at most
/// one.
[[nodiscard]] std::array<RankTree, 2> double_tree_below(std::uint32_t n, std::uint32_t root);

} // namespace tutti
