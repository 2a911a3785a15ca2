// Prices on bandwidth, for the checker of bounds (check.hpp).
#pragma once

#include "synth/bounds/check_network.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::bounds::checking {

/// What a byte of the shipment pays at least where crossing a link costs `costs` [link], whatever
/// trees or paths carry it. Pre: costs >= 0; sums over all links fit.
///   copied     a tree from the holders, as one vertex, to all who want it, over nodes that copy.
///   reduced    the same backwards, over nodes that reduce, to the one who wants it.
///   both       To everyone who wants it come all contributions, from each contributor something
///              comes to all who want it: the largest of these trees. Where nobody reduces but the
///              contributors, all of whom reduce, copy and want it: let r be the first of them that
///              has it all. The deliveries whose contributions make up what r has are a tree to r
///              (nobody but contributors unites any), and each carries less than the whole. What
///              any other gets afterwards that makes its share the whole holds r's contribution:
///              another tree, from r to all, whose deliveries come on top. The least over r of
///              both together.
/// Trees are found exactly (Edmonds 1967) where only those copy (reduce) that the data must reach;
/// else dual ascent (Wong 1984) bounds them, over those who want it in ascending order.
[[nodiscard]] std::int64_t least_payment(const Topology& topology, const Collective& collective,
                                         const Shipment& shipment,
                                         const std::vector<std::int64_t>& costs);

} // namespace tutti::bounds::checking
