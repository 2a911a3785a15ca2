// A second opinion on lower bounds: what a certificate says is worked out anew from the definition
// of a collective and of a schedule's timing, by code that shares nothing with the makers of bounds
// but the types of bounds.hpp.
#pragma once

#include "synth/bounds/bounds.hpp"

#include <span>
#include <string>

namespace tutti {

/// Empty where the certificate proves that no schedule of the collective (of these chunks) ends
/// before `bound.time`, where nodes join at `starts` (RunOptions::starts); else what is wrong, in
/// words. Nothing is believed but the numbers in `bound.proof`: the words and the nodes that are
/// named don't count.
///
/// Suppose that a schedule ends by T - 1 ps. Engines tell whole picoseconds, and each formula here
/// falls with the time that is left, so what can't be done by T - 1 proves T, without any slack:
/// sums are exact integers, and where a number has to be rounded it favours the schedule. (In fluid
/// sharing times are real numbers, which engines round; a bound there is T rounded down, too.)
///   paths      Bellman-Ford from whoever holds a chunk of the source to the destination.
///   cuts       What must cross needs more than all links across carry in T - 1, each from the
///              first moment on that any of this data can be at its beginning until the last at
///              which what has arrived can still get to where it is wanted.
///   work       The same for deliveries from part to part, over all links between.
///   spreading  The same for what is near enough to several nodes to still serve them.
///   prices     What carries the data pays at least so much, by shortest paths and cheapest trees,
///              and all links and shared groups can't earn so much in T - 1.
///   late       A node's own start; or the same as for cuts, out of this one node, or as for paths
///              from it, where whatever must come from it sets out after its start.
///   closed     Shapley 2025, appendix A: (n-1)/n S / b and the like.
/// A cheapest tree is hard to find where nodes copy (or reduce) that the data needn't reach. Dual
/// ascent (Wong 1984) is a bound on it that depends on the order of its steps: a claim by prices
/// that rests on a better one is refused, though it may be true.
/// Cost: cuts and work O(chunks log chunks + set sizes) and some searches of O(nodes * links) at
/// worst, spreading one for each of its targets, prices one for each node and demand.
[[nodiscard]] std::string refuted(const Topology& topology, const Collective& collective,
                                  const TimeModel& model, Chunking chunking, const Bound& bound,
                                  std::span<const Time> starts = {});

} // namespace tutti
