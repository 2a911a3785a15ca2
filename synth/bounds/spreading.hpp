// What crosses a cut last must still get to everyone behind it; by reversal, what crosses first
// must come together before it. A cut into a set of nodes, with links whose ends inside are its
// entries, and m chunks that come from outside and are wanted by the same nodes W inside (two or
// more). Each node of W gets its copy of a chunk from some crossing of it, over links inside only.
//
//   credits  A crossing that arrives at x can serve those of W in time that are near enough to x:
//            N of them, less the later it is. With a credit f(N) such that no crossings serve all
//            of W for a sum below 1, all crossings earn at least m by T. By time T, no more of them
//            earn the credit of N than fit on the links when each must arrive a path to the N-th
//            nearest of W before T. Two such f: N / |W| (rounded up to eighths); and 1/2, or 1 for
//            all of W: unless one crossing serves everyone, there are two. Some nodes stand for
//            all of a large W, with whatever chunks all of these want.
//   ports    Let a be when a crossing would arrive if it had the link's rate and the size of the
//            smallest chunk: its start, plus serialization and latency. It arrives no earlier.
//            Links space starts, and so these a (arrivals they don't: what has to wait for slower
//            links before arrives at the same time). At most k - 1 chunks can have a crossing with
//            a before some time t_k. Each of the others must get to w from t_k on: over a link from
//            inside, which it can't reach before it is complete at an entry, or by a crossing right
//            to w, of which one more than fits into T - t_k has its a between t_k and T.
//
// Reversed, for chunks that reduce: each of W contributes, and crossings out of the set carry their
// contributions, together or not. All that is used of links and nodes holds inverted too: chunks
// start (arrive) no closer than a link allows, and least_times.hpp. Shared groups space the starts
// of chunks over links of unlike latencies: inverted, that is what is left after the latency.
#pragma once

#include "synth/bounds/bounds.hpp"
#include "synth/bounds/cut_bounds.hpp"
#include "synth/bounds/problem.hpp"

#include <optional>
#include <vector>

namespace tutti::bounds {

/// The best over these cuts, in both directions; nothing where that says no more than the cuts
/// themselves: W has one node at most, or sharing is fluid (a transfer may use links across and
/// behind the cut all the time). Ports only where chunks must be complete at every entry before
/// they go on from there.
/// Cost: O(links log links) for each cut, plus up to 64 searches in the set, with a limit to the
/// nodes and links that all of them see.
[[nodiscard]] std::optional<Bound> spreading_cut(const Problem& problem,
                                                 const std::vector<WorstCuts>& worst);

} // namespace tutti::bounds
