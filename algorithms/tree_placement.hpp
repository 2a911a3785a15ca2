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
  std::vector<std::uint32_t> at; ///< [place in the trees]: index into the group; empty: none found
  /// [tree][index into the group]: the link to its parent, and from it. The root has none.
  std::array<std::vector<LinkId>, 2> up, down;
};

/// Looks for places, the same in both trees, for the members of `group` such that all that are
/// joined in a tree have direct links both ways, and no link is taken twice. A link that is k times
/// as wide as the narrowest direct link counts as k links (two NVLinks may be one link of twice the
/// bandwidth). A root that the trees share keeps its place, where `root_stays`. Deterministic.
/// Depth-first, so exponential: it gives up after `work_limit` places tried.
[[nodiscard]] TreePlacement place_trees(const Topology& topology, std::span<const NodeId> group,
                                        const std::array<RankTree, 2>& trees, bool root_stays,
                                        std::uint64_t work_limit = 1'000'000);

} // namespace tutti
