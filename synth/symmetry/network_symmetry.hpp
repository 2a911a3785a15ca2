// Symmetries of a network itself that leave no node in place: what one node does, each of its
// images can do at the same time, over links of its own.
#pragma once

#include "sim/ids.hpp"
#include "sim/topology.hpp"
#include "sim/work_limit.hpp"
#include "synth/symmetry/permutations.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// A commuting group that acts freely on nodes and links: every orbit has as many of them as the
/// group has elements, each the image of the orbit's first one under one element.
struct NetworkSymmetry {
  std::vector<Permutation> elements; ///< of nodes, the identity first
  std::vector<NodeId> first;         ///< [node]: of its orbit
  /// [node]: where its out-links begin in `out_links`, in the order of those of its orbit's first.
  std::vector<std::uint32_t> begin;
  std::vector<LinkId> out_links;
  std::vector<std::uint32_t> place; ///< [link]: among its sender's out_links
  std::vector<std::uint32_t> orbit; ///< [link]: the id of the orbit's first link

  /// The link to which the element takes it.
  [[nodiscard]] LinkId image(const Topology& topology, LinkId link,
                             const Permutation& element) const {
    return out_links[begin[element[topology.link(link).from.value]] + place[link.value]];
  }
};

/// Keeps latencies and bandwidths of links, abilities of nodes and `marks` [node]. As large as was
/// found, but the identity alone where nodes times elements would be more than some 50 million.
/// Pre: no shared groups. Deterministic. Cost: some searches by bliss (0.1 to 0.4 s for 1,000
/// nodes), and elements x nodes. Errors: LimitReached.
[[nodiscard]] NetworkSymmetry network_symmetry(const Topology& topology,
                                               std::span<const std::uint32_t> marks,
                                               const WorkLimit& limit = {});

} // namespace tutti
