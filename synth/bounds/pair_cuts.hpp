// Node sets worth cutting around where every pair of nodes has bytes of its own.
#pragma once

#include "sim/collective.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/cuts.hpp"
#include "synth/bounds/demand.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::bounds {

/// Sets that data must enter or leave and that no node added or left out makes worse: `starts`, and
/// single nodes, changed node by node. Nothing unless each chunk has one source and one
/// destination, and the bytes of pairs differ by more than the rounding of a buffer; nor where
/// `most_work` is too little for some rounds. Deterministic: limited by that, in nodes and pairs
/// looked at. Cost: O(nodes^2 + pairs + links) for each round, some rounds for each start.
[[nodiscard]] std::vector<NodeSet> pair_cuts(const Topology& topology, const Collective& collective,
                                             std::span<const ChunkClass> classes,
                                             std::span<const NodeSet> starts,
                                             std::uint64_t most_work);

} // namespace tutti::bounds
