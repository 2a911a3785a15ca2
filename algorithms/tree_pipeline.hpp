// Chunks one after another along a rooted tree: up, reduced, or down, copied. Algorithms with
// several trees list all of them together, step by step, so that none waits for another's last
// chunk on a link that both use.
#pragma once

#include "algorithms/rank_tree.hpp"
#include "algorithms/routed_schedule.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// One direction of one tree.
struct TreePipeline {
  RankTree tree;
  /// Up (reduce) or down (copy).
  Op op = Op::copy;
  /// By rank: to its parent (up) or from it (down). The root's isn't used.
  std::vector<PathId> path;
  std::vector<ChunkId> chunks; ///< in the order in which they go
  std::uint32_t first_step = 0;

  /// Up, a rank sends its j-th chunk in step first_step + j + height; down, it receives it in step
  /// first_step + j + depth - 1. So a tree's j-th chunk is complete at the root in step
  /// first_step + j + height of the root, and may go down from there.
  [[nodiscard]] std::uint32_t steps() const;
  void list_step(std::uint32_t step, RoutedSchedule& schedule) const;
};

/// In each step all of the pipelines, in order. Cost: O(transfers + steps * pipelines * ranks).
void list_step_by_step(std::span<const TreePipeline> pipelines, RoutedSchedule& schedule);

} // namespace tutti
