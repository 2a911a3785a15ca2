// Each tree is mapped by every element of the group. The elements that keep the demand of a tree
// divide its share among its images; equal images are one tree, which keeps the number of trees
// down where a tree itself is symmetric.

#include "synth/flows/fluid/fluid.hpp"

#include "sim/limit_watch.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

FlowTree image(const FlowTree& tree, const FlowAutomorphism& automorphism) {
  FlowTree moved = tree;
  moved.demand = automorphism.demands[tree.demand];
  moved.root = automorphism.nodes[tree.root];
  for (std::uint32_t& link : moved.links) link = automorphism.links[link];
  return moved;
}

/// Each tree once, with the sum of the shares; the order of first mention.
void merge_equal(std::vector<FlowTree>& trees) {
  using Key = std::tuple<const std::vector<std::uint32_t>&, const std::vector<std::uint32_t>&>;
  const auto key = [](const FlowTree& tree) { return Key(tree.links, tree.hop_end); };
  const auto less = [&](std::size_t a, std::size_t b) { return key(trees[a]) < key(trees[b]); };
  std::map<std::size_t, std::size_t, decltype(less)> first(less);
  std::vector<bool> repeated(trees.size());
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const auto [at, added] = first.emplace(i, i);
    if (added) continue;
    trees[at->second].share += trees[i].share;
    repeated[i] = true;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < trees.size(); ++i)
    if (!repeated[i]) {
      if (kept != i) trees[kept] = std::move(trees[i]);
      ++kept;
    }
  trees.resize(kept);
}

} // namespace

std::vector<FlowTree> expanded(const FlowProblem& problem, const FluidSolution& solution,
                               const WorkLimit& limit) {
  if (solution.symmetry.empty()) {
    std::vector<FlowTree> trees = solution.trees;
    std::ranges::stable_sort(trees, {}, &FlowTree::demand);
    return trees;
  }
  LimitWatch watch(limit);
  std::vector<std::vector<FlowTree>> of_demand(problem.demands.size());
  for (const FlowTree& tree : solution.trees) {
    // as many elements take the demand to each of its images as to itself
    const auto stay = std::ranges::count_if(solution.symmetry, [&](const auto& one) {
      return one.demands[tree.demand] == tree.demand;
    });
    for (const FlowAutomorphism& automorphism : solution.symmetry) {
      watch.require();
      FlowTree moved = image(tree, automorphism);
      moved.share /= static_cast<double>(stay);
      of_demand[moved.demand].push_back(std::move(moved));
    }
  }
  std::vector<FlowTree> trees;
  for (std::vector<FlowTree>& some : of_demand) {
    watch.require();
    if (some.size() > 1) merge_equal(some);
    std::ranges::move(some, std::back_inserter(trees));
  }
  return trees;
}

} // namespace tutti
