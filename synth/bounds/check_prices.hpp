// Prices on bandwidth, for the checker of bounds (check.hpp).
#pragma once

#include "synth/bounds/check_network.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::bounds::checking {

/// What a byte of the shipment pays at least where crossing a link costs `costs` [link], whatever
/// trees or paths carry it. Where it isn't reduced it starts at `sources`. Pre: costs >= 0; sums
/// over all links fit.
///   copied     a tree from the sources, as one vertex, to all who want it, over nodes that copy.
///   reduced    the same inverted, over nodes that reduce, to the one who wants it.
///   both       To everyone who wants it come all contributions, from each contributor something
///              comes to all who want it: the largest of these trees. Where nobody reduces but the
///              contributors, all of whom reduce, copy and want it, the deliveries hold two trees
///              that share none of them, one to some node and one from it: the least over nodes of
///              both together. (Let r be the first to have it all. What others contribute came to
///              r by deliveries. If none of these held r's own contribution, the deliveries that
///              first took that to each other are apart from them. Where some did, since r took
///              back what it had sent off, another node serves: not proven here, but true of all
///              sequences of deliveries among 3 and 4 nodes, which were tried one by one.)
/// A tree to one node is a path. Trees are found exactly (Edmonds 1967) where only those copy
/// (reduce) that the data must reach; else dual ascent (Wong 1984) bounds them, over those who want
/// it in ascending order.
[[nodiscard]] std::int64_t least_payment(const Topology& topology, const Collective& collective,
                                         const Shipment& shipment, std::span<const NodeId> sources,
                                         const std::vector<std::int64_t>& costs);

} // namespace tutti::bounds::checking
