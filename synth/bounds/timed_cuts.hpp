// Cuts over time: data that comes from afar can't cross at once, and what has far to go must cross
// early.
//
// Theorem. Let X be a set of nodes, U the nodes outside with links into X, H those inside where
// such links end. Let each byte of some of the data that must cross into X have a source outside
// and a destination inside such that every path from the source to U takes `from` at least, and
// every path from H to the destination `until` at least, both by latencies alone. Then links into X
// carry all this data in the time from `from` to T - `until`, each less its own latency at the end.
// Proof. The byte, or the partial sum that holds the source's contribution to it, goes from the
// source to the destination. Take the first link into X on its path, from u in U to h in H. It has
// come to u over links that each take their latency, and nothing leaves a node before its first
// bytes are there: the crossing begins at `from` or later. After it has crossed, at the link's
// latency after it was sent, it goes on from h, which takes another `until` at least.
// Bytes that are sent over a link, or a shared group, one after another take 1 / bandwidth each at
// least, so what both can carry by T is as capacity.hpp says, with these margins instead of lower
// ones.
//
// A chunk that is copied may choose among those that hold it: the nearest to U counts. Any of those
// that want it will do: the farthest from H counts. Contributions that are reduced on the path must
// each get to each destination: the farthest of both count.
//
// Where data differ in how far they come and have to go, every pair of `from` and `until` leaves
// other data to count (Jackson 1955 and Carlier 1982 do the same with release times and tails of
// jobs on one machine, where it is exact if jobs may be interrupted).
#pragma once

#include "synth/bounds/bounds.hpp"
#include "synth/bounds/cut_bounds.hpp"
#include "synth/bounds/problem.hpp"

#include <optional>
#include <vector>

namespace tutti::bounds {

/// The best over these cuts and up to 8 values each of `from` and `until`; nothing in fluid
/// sharing, where a transfer may use all links of its path at once. Cost: two searches for each
/// cut, O(classes + set sizes), and O(links across) for each pair; cuts as long as all of them have
/// seen 4 million nodes, links and members of sets.
[[nodiscard]] std::optional<Bound> timed_cut(const Problem& problem,
                                             const std::vector<WorstCuts>& worst);

} // namespace tutti::bounds
