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
#include "algorithms/tree_pipeline.hpp"

#include <cassert>
#include <utility>
#include <vector>

namespace tutti {

namespace {

template <typename Renaming> RankTree renamed_by(const RankTree& tree, const Renaming& renaming) {
  std::vector<std::uint32_t> renamed(tree.parent.size());
  for (std::uint32_t v = 0; v < renamed.size(); ++v) renamed[v] = renaming(v);
  return relabelled(tree, renamed);
}

/// One direction of a tree, with every second chunk.
TreePipeline half_of_the_chunks(const CollectivePart& part, const RankTree& tree, std::size_t which,
                                Op op, const TreePath& path) {
  TreePipeline pipeline{tree, op, std::vector<PathId>(tree.parent.size()), {}};
  for (Rank rank = 0; rank < tree.parent.size(); ++rank) {
    if (rank == tree.root) continue;
    const Rank parent = tree.parent[rank];
    pipeline.path[rank] = op == Op::reduce ? path(which, rank, parent) : path(which, parent, rank);
  }
  for (auto c = static_cast<std::uint32_t>(which); c < part.chunk_count; c += 2)
    pipeline.chunks.push_back(ChunkId{part.first.value + c});
  return pipeline;
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
  return rank_tree(std::move(parent));
}

std::array<RankTree, 2> double_tree(std::uint32_t n) {
  const RankTree first = in_order_tree(n);
  return {first,
          renamed_by(first, [n](std::uint32_t v) { return n % 2 == 0 ? n - 1 - v : (v + 1) % n; })};
}

std::array<RankTree, 2> double_tree_below(std::uint32_t n, std::uint32_t root) {
  const RankTree tree = in_order_tree(n);
  const auto rotated = [=](std::uint32_t v) { return (v + root) % n; };
  // Mirrored or shifted among the n - 1 others.
  const auto complement = [n](std::uint32_t v) {
    if (v == 0) return v;
    return n % 2 == 1 ? n - v : v % (n - 1) + 1;
  };
  return {renamed_by(tree, rotated),
          renamed_by(tree, [&](std::uint32_t v) { return rotated(complement(v)); })};
}

std::array<RankTree, 2> double_tree_for(const CollectivePart& part) {
  const auto n = static_cast<std::uint32_t>(part.group.size());
  return part.kind == CollectiveKind::all_reduce ? double_tree(n) : double_tree_below(n, part.root);
}

void send_along_two_trees(RoutedSchedule& schedule, const std::array<RankTree, 2>& trees,
                          const TreePath& path) {
  const CollectivePart& part = schedule.part();
  const bool up = part.kind != CollectiveKind::broadcast,
             down = part.kind != CollectiveKind::reduce;
  std::vector<TreePipeline> pipelines;
  for (std::size_t t = 0; t < trees.size(); ++t) {
    if (up) pipelines.push_back(half_of_the_chunks(part, trees[t], t, Op::reduce, path));
    if (!down) continue;
    pipelines.push_back(half_of_the_chunks(part, trees[t], t, Op::copy, path));
    if (up) pipelines.back().first_step = trees[t].height[trees[t].root];
  }
  list_step_by_step(pipelines, schedule);
}

Outcome double_binary_tree(const Topology& topology, const Collective& collective,
                           const SynthesisOptions& options) {
  RoutedSchedule schedule(topology, collective, options);
  send_along_two_trees(schedule, double_tree_for(schedule.part()),
                       [&](std::size_t tree, Rank from, Rank to) {
                         return schedule.path(from, to, static_cast<std::uint32_t>(tree));
                       });
  return std::move(schedule).outcome();
}

} // namespace tutti
