// Two trees laid over direct links, so that every link of a tree is a link of the network that
// nothing else uses.
#pragma once

#include "algorithms/rank_tree.hpp"
#include "sim/topology.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Who stands where in the trees, and over which links they speak.
struct TreePlacement {
  bool found = false;
  /// [tree][place in it]: index into the group.
  std::array<std::vector<std::uint32_t>, 2> at;
  /// [tree][index into the group]: the link to its parent, and from it. The root has none.
  std::array<std::vector<LinkId>, 2> up, down;
};

/// Looks for places for the members of `group` such that all that are joined in a tree have direct
/// links in both directions, no link is taken twice, and no member has more than four neighbours in
/// both trees together (so who has three in one is a leaf of the other). A link that is k times as
/// wide as the narrowest direct link counts as k links (two NVLinks may be one link of twice the
/// bandwidth). Where `roots_stay`, a tree's root is the member of its number. Deterministic.
/// Depth-first, so exponential: it gives up after `work_limit` places tried.
[[nodiscard]] TreePlacement place_trees(const Topology& topology, std::span<const NodeId> group,
                                        const std::array<RankTree, 2>& trees, bool roots_stay,
                                        std::uint64_t work_limit = 1'000'000);

} // namespace tutti
