// The compact form of a schedule: for each link the chunks that it carries, in order. 4 bytes a
// transfer; only for copies over single links that bring each chunk to a node once (All-Gather,
// Broadcast, Scatter by TACOS, Ring, ...). Which link carries what in which order is all that
// decides such a schedule: order across links follows from the data.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

struct CompactSchedule {
  std::vector<std::size_t> begin; ///< per link, and one past the end
  std::vector<ChunkId> chunks;    ///< chunks[begin[l] .. begin[l+1]) cross link l, in that order

  [[nodiscard]] std::span<const ChunkId> on(LinkId link) const {
    return {chunks.data() + begin[link.value], begin[link.value + 1] - begin[link.value]};
  }
  [[nodiscard]] std::size_t size() const { return chunks.size(); }
};

/// Nothing where the schedule has reductions, several hops, "together", brings a chunk to a node
/// twice (or to one that holds it), or sends one that its sender doesn't have by then.
/// Cost: O(transfers + chunks + what the sets hold).
[[nodiscard]] std::optional<CompactSchedule>
compacted(const Topology& topology, const Collective& collective, const Schedule& schedule);

/// An ordered list with the same meaning: round by round over the links, by ascending LinkId, each
/// sending the next chunk that its node holds from before the round. Pre: link and chunk ids in
/// range. Errors: InputError naming link and chunk where a chunk never reaches its sender, or
/// reaches a node twice. Cost: O(links + transfers log links).
[[nodiscard]] Schedule expanded(const Topology& topology, const Collective& collective,
                                const CompactSchedule& compact);

} // namespace tutti
