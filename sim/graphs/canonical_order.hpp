// An order of a network's nodes and links that depends on its structure, not on how it was listed.
#pragma once

#include "sim/topology.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

struct CanonicalOrder {
  std::vector<NodeId> nodes; ///< NPUs first; those of one machine side by side
  std::vector<LinkId> links;
  std::vector<std::uint32_t> groups; ///< into Topology::groups()
};

/// Two listings of one network get orders that make them the same network, wherever the work below
/// suffices to see it; beyond that, ties go by id. `marks`: per node, what sets it apart besides
/// (the root, members of a group). Where NPUs have coordinates these are the order, the last
/// dimension first, as families number them.
/// Cost: O(links log links); where nodes look alike, up to some 10^7 looks at links.
[[nodiscard]] CanonicalOrder canonical_order(const Topology& topology,
                                             std::span<const std::uint32_t> marks);

/// A few links without which the network is far more regular (one cable more in a ring, say):
/// neighbourhoods tell at most two thirds as many kinds of links apart. Empty where there are none,
/// and where looking for them is long work. Coordinates don't count. Cost: O(links log links), and
/// that again for each link of which there are only one or two; at most some 10^6 looks at links.
[[nodiscard]] std::vector<LinkId> odd_links(const Topology& topology,
                                            std::span<const std::uint32_t> marks);

} // namespace tutti
