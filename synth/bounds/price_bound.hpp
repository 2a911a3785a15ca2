// Prices on bandwidth as a certificate: whatever carries the data pays for it, and nothing can earn
// more than its bandwidth allows.
#pragma once

#include "sim/time_model.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/flows/fluid/orbits.hpp"
#include "synth/flows/problem.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// Links that any tree crosses, at most: 2^16 nodes and paths of 2^6 links. Prices are scaled to 38
/// bits, what all demands pay together is less than 2^126.
inline constexpr std::uint64_t most_tree_links = std::uint64_t{1} << 22;

/// The fluid bound that prices [resource] prove, whatever they are (negative ones count as 0): all
/// demands need at least so much when each takes its cheapest path, and in a second all resources
/// together give sum(price * bandwidth). Evaluated in integers (prices scaled and rounded), so that
/// no rounding error can make it too high. In seconds, rounded down; 0 for prices of no use.
///   paths    shortest paths
///   spread   minimum arborescences from the sources over nodes that copy (Edmonds 1967); where
///            others than sinks copy, Steiner arborescences, bounded by dual ascent (Wong 1984)
///   combine  the same on the reversed network
///   both     the least over roots of both, where only sources reduce and are the sinks too: of the
///            transfers of a chunk those whose data makes the first of them complete are an
///            in-tree, and what it contributed spreads to all others by the remaining ones (each
///            carries a sum that it is part of, which none of the in-tree's does, unless the
///            source takes back a sum with its own part in it: for that case there is no proof
///            here, but all sequences of deliveries among 3 and 4 nodes obey it). Else the larger.
[[nodiscard]] double price_bound(const FlowProblem& problem, std::span<const double> prices);
/// The same for prices that a symmetry leaves as they are, looking only at what stands for all.
[[nodiscard]] double price_bound(const FlowProblem& problem, std::span<const double> prices,
                                 std::span<const Representative> representatives);

/// The bound with latencies, in ps and rounded down: of the time T until all is done, `margins`
/// [resource] tells what passes before the first byte of any demand can reach the resource, and
/// after the last can still be of use, together; bounds::never where none can at all.
///
/// Theorem. Let P be what all demands pay at least (as above), p_r a resource's price, B_r its
/// bandwidth and m_r its margin. Then sum_r p_r B_r max(0, T - m_r) >= P.
/// Proof. From each byte that someone wants go back to where it comes from (of contributions: from
/// each to where it is wanted). These crossings are a path or a tree from sources to sinks, so all
/// together pay P at least. Each is a step on a path from a source to a sink of its chunk: it
/// begins no earlier than the first data from any source can be at the link's beginning, and its
/// last byte is over when what is left of T is as long as the shortest path from the link's end to
/// any sink. A link sends what crosses it one after another, each byte for 1 / B_r at least (longer
/// where it is busy for its latency, too), a shared group the same of all its links: its first such
/// crossing may be over one link and its last over another, so that m_r is the least of what passes
/// before plus the least of what passes after, each over its links that lie on some path. So r
/// carries at most B_r (T - m_r) of these bytes, and none, not fewer, where T is below m_r.
/// The sum grows with T, linear between the m_r: its root is found by going through them in
/// ascending order. Margins hold for every chunk of every part of a collective, since they are the
/// least over all sources, all sinks and all chunk sizes. In fluid sharing they are 0.
[[nodiscard]] std::int64_t price_bound_ps(const FlowProblem& problem,
                                          std::span<const double> prices,
                                          std::span<const std::int64_t> margins,
                                          std::span<const Representative> representatives);

/// What must leave these nodes (inside [node]) over links and shared groups out of them needs so
/// many seconds: the price bound where exactly these have a price. Cost: O(set sizes + links).
[[nodiscard]] double cut_seconds(const FlowProblem& problem, const std::vector<bool>& inside);

} // namespace tutti
