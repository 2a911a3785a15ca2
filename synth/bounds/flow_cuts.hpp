// Node sets that are hard to leave, found by maximum flows. A flow only proposes sets: what they
// prove is worked out elsewhere (cuts.hpp), from the links that leave them.
#pragma once

#include "sim/collective.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/cuts.hpp"
#include "synth/bounds/demand.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::bounds {

/// Sets by growing bytes per bandwidth out of them, the best last. Where `exhaustive`, no other set
/// has more bytes that must leave it per bandwidth out of it
///   - exactly, where every chunk is wanted by the same nodes and, if it reduces, everyone who
///     contributes to one contributes to all (Broadcast, All-Gather, All-Reduce; by reversal Reduce
///     and Reduce-Scatter, whose chunks have the same contributors and one who wants them each);
///   - else counting only chunks that one node wants (or, by reversal, contributes to).
struct FlowCuts {
  std::vector<NodeSet> sets; ///< at most 8
  bool exhaustive = true;    ///< every node was tried; else a sample, spread evenly
};

/// For each node that wants something, the least fraction x of the time that lets everything it
/// wants flow to it from the sources: from a super source, an arc to each source with the bytes,
/// arcs of the network with x * bandwidth. Where a maximum flow can't carry all, a minimum cut has
/// a larger x of its own, with which the search goes on (Newton's or Dinkelbach's iteration), from
/// node to node. Chunks that reduce flow from where they are wanted to each contributor, on the
/// reversed network. Ratios are fractions of integers; capacities are scaled to integers, exactly
/// up to 2^61 in total and beyond rounded so that every set found is better: one that is better by
/// less than 2^-40 may be missed.
///
/// A shared group counts once where each of its senders has a link in it to each of its receivers
/// (a bus, the port or NIC of one node); the links of others are taken alone, at their effective
/// bandwidth. Either may overrate what a set's links carry together, never underrate it.
/// Cost: one flow for each node (two for All-Reduce) and each better set, at most `most_work`
/// nodes and arcs in all: 1,024 NPUs with 4 links 0.1 s, a ring of as many (8 of them tried) 0.2 s,
/// 40,000 NPUs (41 of them tried) 0.3 s.
[[nodiscard]] FlowCuts flow_cuts(const Topology& topology, const Collective& collective,
                                 std::span<const ChunkClass> classes,
                                 std::uint64_t most_work = 20'000'000);

} // namespace tutti::bounds
