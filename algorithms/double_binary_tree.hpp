// The two complementary binary trees of double_binary_tree.cpp, and how chunks use them.
#pragma once

#include "algorithms/rank_tree.hpp"
#include "algorithms/routed_schedule.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace tutti {

/// NCCL's in-order tree: rank 0 is the root and has one child, odd ranks are leaves. Pre: n >= 1.
[[nodiscard]] RankTree in_order_tree(std::uint32_t n);

/// For All-Reduce: the in-order tree, and the same mirrored (even n) or shifted by one rank (odd
/// n). Even n: every rank is a leaf in at least one of them.
[[nodiscard]] std::array<RankTree, 2> double_tree(std::uint32_t n);

/// For Broadcast and Reduce: `root` is the root of both, all others are an inner rank in at most
/// one.
[[nodiscard]] std::array<RankTree, 2> double_tree_below(std::uint32_t n, std::uint32_t root);

/// The two trees for this All-Reduce, Broadcast or Reduce.
[[nodiscard]] std::array<RankTree, 2> double_tree_for(const CollectivePart& part);

/// On which path rank `from` sends to rank `to` in tree 0 or 1.
using TreePath = std::function<PathId(std::size_t tree, Rank from, Rank to)>;

/// Lists the collective of `schedule` (All-Reduce, Broadcast or Reduce), every second chunk in one
/// tree, the others in the other. In All-Reduce a chunk comes down as soon as it is reduced.
void send_along_two_trees(RoutedSchedule& schedule, const std::array<RankTree, 2>& trees,
                          const TreePath& path);

} // namespace tutti
