// What TACOS (MICRO 2024) leaves to future work: collectives in which not everyone wants everything
// (All-to-All, Gather, Scatter, any custom pre- and postcondition, several at once). Chunks are
// routed over relays without flooding, then scheduled.
#pragma once

#include "sim/collective.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"
#include "sim/work_limit.hpp"
#include "synth/scheduling/list_scheduling.hpp"

#include <optional>

namespace tutti {

/// Every chunk takes a path, or a tree where several want it or it reduces, such that no link or
/// shared group is loaded much more than it must be; the order on each link is then decided by list
/// scheduling. No node gets a chunk twice in vain, no contribution is counted twice. Any node
/// relays; where one can't store, the chunk is cut through, where it can't copy or reduce, paths
/// don't branch or join there.
/// Nothing where the limit is reached before the first schedule; later, the best so far.
/// Deterministic by options.seed. Pre: every chunk can reach all who want it; all who hold or want
/// chunks can store and copy, and reduce where theirs do; the discipline is fifo.
/// Cost: a few searches of O(links log nodes) for each source, or for each chunk where those are
/// few; then about 1 us for each link crossed, times the attempts.
[[nodiscard]] std::optional<Timed> routed(const Topology& topology, const Collective& collective,
                                          const SynthesisOptions& options, const WorkLimit& limit);

} // namespace tutti
