// The trees are NCCL's, and their leaves and inner ranks complement each other for every count and
// root.

#include "algorithms/double_binary_tree.hpp"

#include "tests/catch.hpp"

#include <bit>

namespace double_binary_tree_test {

using namespace tutti;

namespace {

/// Links to the root at most in any in-order tree: one to its root, one per level below.
std::uint32_t most_levels(std::uint32_t n) {
  return static_cast<std::uint32_t>(std::bit_width(n - 1)); // ceil(log2 n)
}

std::uint32_t children(const RankTree& tree, std::uint32_t rank) {
  std::uint32_t count = 0;
  for (const std::uint32_t parent : tree.parent) count += parent == rank ? 1 : 0;
  return count;
}

void check_binary(const RankTree& tree) {
  for (std::uint32_t rank = 0; rank < tree.parent.size(); ++rank) {
    CHECK(children(tree, rank) <= 2);
    CHECK((tree.parent[rank] == RankTree::no_parent) == (rank == tree.root));
    CHECK(tree.is_leaf(rank) == (children(tree, rank) == 0));
    if (rank != tree.root) CHECK(tree.depth[rank] == tree.depth[tree.parent[rank]] + 1);
  }
  CHECK(tree.height[tree.root] <= most_levels(static_cast<std::uint32_t>(tree.parent.size())));
}

} // namespace

TEST_CASE("the in-order tree is NCCL's") {
  // The picture in NCCL's trees.cc for 14 ranks: 0 - 8; 8 - 4, 12; 4 - 2, 6; 12 - 10, 13; ...
  const std::vector<std::uint32_t> nccl{
      RankTree::no_parent, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12};
  CHECK(in_order_tree(14).parent == nccl);
  CHECK(in_order_tree(1).height[0] == 0);
}

TEST_CASE("the double tree's two trees complement each other") {
  for (std::uint32_t n = 2; n <= 33; ++n) {
    INFO(n << " ranks");
    const auto trees = double_tree(n);
    for (const RankTree& tree : trees) check_binary(tree);
    for (std::uint32_t rank = 0; n % 2 == 0 && rank < n; ++rank)
      CHECK((trees[0].is_leaf(rank) || trees[1].is_leaf(rank)));
  }
}

TEST_CASE("the double tree below a root complements for every count and root") {
  for (std::uint32_t n = 2; n <= 17; ++n)
    for (const std::uint32_t root : {0U, 1U, n - 1}) {
      INFO(n << " ranks below " << root);
      const auto trees = double_tree_below(n, root);
      for (const RankTree& tree : trees) {
        check_binary(tree);
        CHECK(tree.root == root);
        CHECK(children(tree, root) == 1);
      }
      for (std::uint32_t rank = 0; rank < n; ++rank)
        if (rank != root) CHECK((trees[0].is_leaf(rank) || trees[1].is_leaf(rank)));
    }
}

} // namespace double_binary_tree_test
