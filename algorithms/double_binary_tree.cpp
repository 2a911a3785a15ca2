// Double binary tree: two binary trees over the same ranks, such that an inner rank of one is a
// leaf of the other; each carries half of the chunks, so that every rank sends and receives about
// the same. All-Reduce reduces up and broadcasts down, pipelined over the chunks; Broadcast and
// Reduce do one of the two, below their root.
// Source: Sanders, Speck, Traff 2009 (Parallel Computing 35(12), "Two-tree algorithms for full
// bandwidth broadcast, reduction and scan"); the trees are those of NCCL 2.4 (Jeaugey 2019).
// Cost, c chunks: All-Reduce 2 (n - 1) c sends in about c / 2 + 2 log2(n) steps; Broadcast and
// Reduce half of the sends.

#include "algorithms/double_binary_tree.hpp"

#include "algorithms/list.hpp"
#include "algorithms/routed_schedule.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

namespace tutti {

namespace {

/// Fills root, depth and height. Cost: O(n * height).
RankTree tree_of(std::vector<std::uint32_t> parent) {
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

/// The tree whose rank renamed(v) stands where v stands in `tree`.
template <typename Renaming> RankTree relabelled(const RankTree& tree, const Renaming& renamed) {
  std::vector<std::uint32_t> parent(tree.parent.size(), RankTree::no_parent);
  for (std::uint32_t v = 0; v < parent.size(); ++v)
    if (v != tree.root) parent[renamed(v)] = renamed(tree.parent[v]);
  return tree_of(std::move(parent));
}

/// One tree's share of the chunks (every second one), pipelined: a rank sends its j-th chunk up in
/// step j + height, and what has reached the root comes down one level a step.
class TreePipeline {
public:
  TreePipeline(RoutedSchedule& schedule, const RankTree& tree, std::uint32_t first_chunk)
      : schedule_(schedule), tree_(tree), first_chunk_(first_chunk),
        chunks_((schedule.part().chunk_count + 1 - first_chunk) / 2) {}

  [[nodiscard]] std::uint32_t height() const { return tree_.height[tree_.root]; }

  /// Step `step` of the way up. The last step is steps() - 1.
  void reduce_up(std::uint32_t step) {
    for (Rank rank = 0; rank < schedule_.size(); ++rank)
      if (rank != tree_.root && has_chunk(step, tree_.height[rank]))
        schedule_.send_chunk(rank, tree_.parent[rank], chunk(step - tree_.height[rank]),
                             Op::reduce);
  }

  /// Step `step` of the way down, counted from when the first chunk is at the root.
  void broadcast_down(std::uint32_t step) {
    for (Rank rank = 0; rank < schedule_.size(); ++rank) {
      if (rank == tree_.root) continue;
      const std::uint32_t level = tree_.depth[rank] - 1;
      if (has_chunk(step, level))
        schedule_.send_chunk(tree_.parent[rank], rank, chunk(step - level), Op::copy);
    }
  }

  /// How many steps either way takes.
  [[nodiscard]] std::uint32_t steps() const { return chunks_ + height(); }

private:
  [[nodiscard]] bool has_chunk(std::uint32_t step, std::uint32_t delay) const {
    return step >= delay && step - delay < chunks_;
  }
  [[nodiscard]] ChunkId chunk(std::uint32_t j) const {
    return ChunkId{schedule_.part().first.value + first_chunk_ + 2 * j};
  }

  RoutedSchedule& schedule_;
  const RankTree& tree_;
  std::uint32_t first_chunk_, chunks_;
};

/// Both ways or one, step by step over both trees.
void run_pipelines(RoutedSchedule& schedule, const std::array<RankTree, 2>& trees, bool up,
                   bool down) {
  std::array pipelines{TreePipeline(schedule, trees[0], 0), TreePipeline(schedule, trees[1], 1)};
  const auto delay = [&](const TreePipeline& pipeline) { return up ? pipeline.height() : 0; };
  std::uint32_t steps = 0;
  for (const TreePipeline& pipeline : pipelines)
    steps = std::max(steps, pipeline.steps() + (down ? delay(pipeline) : 0));
  for (std::uint32_t step = 0; step < steps; ++step)
    for (TreePipeline& pipeline : pipelines) {
      if (up) pipeline.reduce_up(step);
      if (down && step >= delay(pipeline)) pipeline.broadcast_down(step - delay(pipeline));
    }
}

} // namespace

RankTree in_order_tree(std::uint32_t n) {
  assert(n >= 1);
  std::vector<std::uint32_t> parent(n, RankTree::no_parent);
  for (std::uint32_t rank = 1; rank < n; ++rank) {
    const std::uint32_t lowest_bit = rank & (~rank + 1);
    const std::uint32_t above = (rank ^ lowest_bit) | (lowest_bit << 1);
    parent[rank] = above < n ? above : rank ^ lowest_bit;
  }
  return tree_of(std::move(parent));
}

std::array<RankTree, 2> double_tree(std::uint32_t n) {
  const RankTree first = in_order_tree(n);
  return {first,
          relabelled(first, [n](std::uint32_t v) { return n % 2 == 0 ? n - 1 - v : (v + 1) % n; })};
}

std::array<RankTree, 2> double_tree_below(std::uint32_t n, std::uint32_t root) {
  const RankTree tree = in_order_tree(n);
  const auto rotated = [=](std::uint32_t v) { return (v + root) % n; };
  // Mirrored or shifted among the n - 1 others.
  const auto complement = [n](std::uint32_t v) {
    if (v == 0) return v;
    return n % 2 == 1 ? n - v : v % (n - 1) + 1;
  };
  return {relabelled(tree, rotated),
          relabelled(tree, [&](std::uint32_t v) { return rotated(complement(v)); })};
}

Outcome double_binary_tree(const Topology& topology, const Collective& collective,
                           const SynthesisOptions& options) {
  RoutedSchedule schedule(topology, collective, options);
  const Rank n = schedule.size(), root = schedule.part().root;
  switch (schedule.part().kind) {
  case CollectiveKind::all_reduce: run_pipelines(schedule, double_tree(n), true, true); break;
  case CollectiveKind::broadcast:
    run_pipelines(schedule, double_tree_below(n, root), false, true);
    break;
  case CollectiveKind::reduce:
    run_pipelines(schedule, double_tree_below(n, root), true, false);
    break;
  default: assert(false && "synthesize() refuses what the row doesn't list");
  }
  return std::move(schedule).outcome();
}

} // namespace tutti
